/** The example rules/budgets.yaml. Users edit it, so their file is never overwritten. */
export const budgetsText =
  (): string => `# Budgets: edit this file. US dollars at list price, for 30 days; reload Prometheus afterwards.
#
# One rule for each budget, with a unique name in the label \`budget\`. Without the label \`vcs_repository_name\` it covers
# everything; with it, only that repository.
# Spending: openhook:budget_spent:ratio_1h, _1d, _7d, _30d (rules/recording.yaml). Alerts: OpenhookBudget… (rules/alerts.yaml).
#
# No budget is set. To set one, remove the next line, and the first two characters of the lines below it.
groups: []
# groups:
#   - name: openhook-budgets
#     interval: 5m
#     rules:
#       - record: openhook:budget_usd
#         expr: vector(2000)
#         labels:
#           budget: team
#       - record: openhook:budget_usd
#         expr: vector(300)
#         labels:
#           budget: lighthouse
#           vcs_repository_name: lighthouse
`;
