;; Splits a buffer into its JSON lines and copies them without their long strings, 16 or 64 bytes at a time. See
;; ../shorten.ts.
;;
;; A string of more than $max bytes is cut after $keep bytes, never inside an escape, or before its first character that is
;; not ASCII, and then ends with \u0000. A member called `command` or `arguments` is cut only if it has more than $maxCommand
;; bytes. Strings are found by the rules of JSON. A line that is not JSON is copied unchanged, or cut by the same rules; its
;; reader notices when it parses the line. Reads up to 64 bytes beyond $end.
(module
  (import "host" "memory" (memory 1))
  ;; The end of the last complete line, and the end of the copies.
  (global $readEnd (export "readEnd") (mut i32) (i32.const 0))
  (global $copyEnd (export "copyEnd") (mut i32) (i32.const 0))

  ;; One bit for each of 64 bytes: whether it is $byte.
  (func $bits (param $b0 v128) (param $b1 v128) (param $b2 v128) (param $b3 v128) (param $byte i32) (result i64)
    (local $all v128)
    (local.set $all (i8x16.splat (local.get $byte)))
    (i64.or
      (i64.or
        (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $b0) (local.get $all))))
        (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $b1) (local.get $all)))) (i64.const 16)))
      (i64.or
        (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $b2) (local.get $all)))) (i64.const 32))
        (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $b3) (local.get $all)))) (i64.const 48)))))

  ;; The first position from $until on that is not inside an escape; or that of the first byte that is not ASCII.
  (func $safe (param $at i32) (param $until i32) (result i32)
    (local $byte i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $until)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (br_if $done (i32.ge_u (local.get $byte) (i32.const 0x80)))
        (if (i32.eq (local.get $byte) (i32.const 0x5c)) ;; backslash
          (then
            (local.set $at
              (i32.add (local.get $at)
                (select (i32.const 6) (i32.const 2)
                  (i32.eq (i32.load8_u offset=1 (local.get $at)) (i32.const 0x75)))))) ;; u
          (else (local.set $at (i32.add (local.get $at) (i32.const 1)))))
        (br $next)))
    (local.get $at))

  ;; Whether the eight bytes before a string are `mmand":"` or `ments":"`.
  (func $isCommand (param $text i32) (result i32)
    (local $before i64)
    (if (i32.lt_u (local.get $text) (i32.const 8)) (then (return (i32.const 0))))
    (local.set $before (i64.load align=1 (i32.sub (local.get $text) (i32.const 8))))
    (i32.or
      (i64.eq (local.get $before) (i64.const 0x223a22646e616d6d))
      (i64.eq (local.get $before) (i64.const 0x223a2273746e656d))))

  ;; $in to $end: the bytes. $copy: where the copies are written; they need no more room than the bytes. $table: four numbers
  ;; per line: its start and end, the start of its copy, and 1 if the copy is cut. Returns the number of complete lines, at
  ;; most $most.
  (func (export "shorten")
    (param $in i32) (param $end i32) (param $copy i32) (param $table i32) (param $most i32) (param $max i32)
    (param $keep i32) (param $maxCommand i32) (result i32)
    (local $at i32) (local $line i32) (local $copied i32) (local $copyStart i32) (local $isCut i32)
    (local $lines i32) (local $found i32) (local $text i32) (local $byte i32) (local $bytes v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128) (local $ends i64) (local $slashes i64)
    (local $behind i64) (local $oddStarts i64) (local $sum i64) (local $escaped i64) (local $carry i64)
    (local.set $at (local.get $in))
    (local.set $line (local.get $in))
    (local.set $copied (local.get $in))
    (local.set $copyStart (local.get $copy))
    (global.set $readEnd (local.get $in))
    (global.set $copyEnd (local.get $copy))
    (block $done
      (loop $next
        ;; Between strings: find a quote or the end of the line
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $bytes (v128.load align=1 (local.get $at)))
        (local.set $found
          (i8x16.bitmask
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x0a))))))
        (if (i32.eqz (local.get $found))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $next)))
        (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x0a))
          (then
            (memory.copy (local.get $copy) (local.get $copied) (i32.sub (local.get $at) (local.get $copied)))
            (local.set $copy (i32.add (local.get $copy) (i32.sub (local.get $at) (local.get $copied))))
            (i32.store (local.get $table) (local.get $line))
            (i32.store offset=4 (local.get $table) (local.get $at))
            (i32.store offset=8 (local.get $table) (local.get $copyStart))
            (i32.store offset=12 (local.get $table) (local.get $isCut))
            (local.set $table (i32.add (local.get $table) (i32.const 16)))
            (local.set $lines (i32.add (local.get $lines) (i32.const 1)))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $line (local.get $at))
            (local.set $copied (local.get $at))
            (local.set $copyStart (local.get $copy))
            (local.set $isCut (i32.const 0))
            (global.set $readEnd (local.get $at))
            (global.set $copyEnd (local.get $copy))
            (br_if $done (i32.ge_u (local.get $lines) (local.get $most)))
            (br $next)))
        ;; Inside a string: most names and numbers of a line end within sixteen bytes and have no escapes
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $text (local.get $at))
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $bytes (v128.load align=1 (local.get $at)))
        (local.set $found
          (i8x16.bitmask
            (v128.or
              (v128.or
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x0a))))))
        (local.set $byte (i32.const 0x5c))
        (if (i32.eqz (local.get $found))
          (then (local.set $at (i32.add (local.get $at) (i32.const 16))))
          (else
            (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
            (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
            (local.set $byte (i32.load8_u (local.get $at)))))
        (if (i32.eq (local.get $byte) (i32.const 0x5c))
          (then
            ;; Longer strings, or those with escapes: 64 bytes at a time, one bit for each byte
            (local.set $carry (i64.const 0))
            (loop $inside
              (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
              (local.set $b0 (v128.load align=1 (local.get $at)))
              (local.set $b1 (v128.load offset=16 align=1 (local.get $at)))
              (local.set $b2 (v128.load offset=32 align=1 (local.get $at)))
              (local.set $b3 (v128.load offset=48 align=1 (local.get $at)))
              (local.set $ends
                (call $bits (local.get $b0) (local.get $b1) (local.get $b2) (local.get $b3) (i32.const 0x22)))
              (local.set $slashes
                (call $bits (local.get $b0) (local.get $b1) (local.get $b2) (local.get $b3) (i32.const 0x5c)))
              ;; A byte is escaped if an odd number of backslashes precedes it. Adding the first backslash of each run that
              ;; begins at an odd place to all backslashes carries past the end of that run, so that the bit behind it tells
              ;; odd runs from even ones. $carry: the block before ended with an escape, whose second byte comes first here.
              (if (i64.ne (i64.or (local.get $slashes) (local.get $carry)) (i64.const 0))
                (then
                  (local.set $slashes (i64.and (local.get $slashes) (i64.xor (local.get $carry) (i64.const -1))))
                  (local.set $behind (i64.or (i64.shl (local.get $slashes) (i64.const 1)) (local.get $carry)))
                  (local.set $oddStarts
                    (i64.and
                      (i64.and (local.get $slashes) (i64.const 0xaaaaaaaaaaaaaaaa))
                      (i64.xor (local.get $behind) (i64.const -1))))
                  (local.set $sum (i64.add (local.get $oddStarts) (local.get $slashes)))
                  (local.set $carry (i64.extend_i32_u (i64.lt_u (local.get $sum) (local.get $oddStarts))))
                  (local.set $escaped
                    (i64.and
                      (i64.xor (i64.shl (local.get $sum) (i64.const 1)) (i64.const 0x5555555555555555))
                      (local.get $behind)))
                  (local.set $ends (i64.and (local.get $ends) (i64.xor (local.get $escaped) (i64.const -1))))))
              ;; A line feed ends the line even behind a backslash: the line is torn
              (if
                (v128.any_true
                  (v128.or
                    (v128.or
                      (i8x16.eq (local.get $b0) (i8x16.splat (i32.const 0x0a)))
                      (i8x16.eq (local.get $b1) (i8x16.splat (i32.const 0x0a))))
                    (v128.or
                      (i8x16.eq (local.get $b2) (i8x16.splat (i32.const 0x0a)))
                      (i8x16.eq (local.get $b3) (i8x16.splat (i32.const 0x0a))))))
                (then
                  (local.set $ends
                    (i64.or
                      (local.get $ends)
                      (call $bits (local.get $b0) (local.get $b1) (local.get $b2) (local.get $b3) (i32.const 0x0a))))))
              (if (i64.eqz (local.get $ends))
                (then
                  (local.set $at (i32.add (local.get $at) (i32.const 64)))
                  (br $inside))))
            (local.set $at (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $ends)))))
            (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
            (local.set $byte (i32.load8_u (local.get $at)))))
        (br_if $next (i32.eq (local.get $byte) (i32.const 0x0a)))
        (local.set $found (i32.sub (local.get $at) (local.get $text)))
        (if
          (if (result i32) (i32.gt_u (local.get $found) (local.get $max))
            (then
              (i32.or
                (i32.gt_u (local.get $found) (local.get $maxCommand))
                (i32.eqz (call $isCommand (local.get $text)))))
            (else (i32.const 0)))
          (then
            (local.set $text (call $safe (local.get $text) (i32.add (local.get $text) (local.get $keep))))
            (memory.copy (local.get $copy) (local.get $copied) (i32.sub (local.get $text) (local.get $copied)))
            (local.set $copy (i32.add (local.get $copy) (i32.sub (local.get $text) (local.get $copied))))
            (i32.store16 align=1 (local.get $copy) (i32.const 0x755c)) ;; \u
            (i32.store offset=2 align=1 (local.get $copy) (i32.const 0x30303030)) ;; 0000
            (local.set $copy (i32.add (local.get $copy) (i32.const 6)))
            (local.set $isCut (i32.const 1))
            (local.set $copied (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (local.get $lines)))
