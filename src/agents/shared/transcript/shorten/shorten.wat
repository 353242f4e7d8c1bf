;; Splits a buffer of JSON lines and copies them without their long texts, sixteen bytes at a time. See ../shorten.ts.
;;
;; A text of more than $max bytes is cut behind $keep bytes, never inside a letter or an escape, and ends in \u0000.
;; What stands between quotes is found as JSON has it; a line that is no JSON is copied as it is or cut as if it were,
;; and its reader finds out when it parses it. Reads up to 16 bytes beyond $end.
(module
  (import "host" "memory" (memory 1))
  ;; Where the last complete line ended, and how far the copies reach.
  (global $readEnd (export "readEnd") (mut i32) (i32.const 0))
  (global $copyEnd (export "copyEnd") (mut i32) (i32.const 0))

  ;; The first place from $until on that is inside neither an escape nor a letter.
  (func $safe (param $at i32) (param $until i32) (result i32)
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $until))
        (then
          (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x5c)) ;; backslash
            (then
              (local.set $at
                (i32.add (local.get $at)
                  (select (i32.const 6) (i32.const 2)
                    (i32.eq (i32.load8_u offset=1 (local.get $at)) (i32.const 0x75)))))) ;; u
            (else (local.set $at (i32.add (local.get $at) (i32.const 1)))))
          (br $next))))
    (loop $letter
      (if (i32.eq (i32.and (i32.load8_u (local.get $at)) (i32.const 0xc0)) (i32.const 0x80))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $letter))))
    (local.get $at))

  ;; $in to $end: bytes. $copy: where copies go, as many bytes as there are and 8 more for each cut. $table: four numbers a
  ;; line: its begin and end, the begin of its copy, and 1 where that lacks something. Gives the number of complete lines,
  ;; at most $most.
  (func (export "shorten")
    (param $in i32) (param $end i32) (param $copy i32) (param $table i32) (param $most i32) (param $max i32)
    (param $keep i32) (result i32)
    (local $at i32) (local $line i32) (local $copied i32) (local $copyStart i32) (local $isCut i32)
    (local $lines i32) (local $found i32) (local $text i32) (local $byte i32) (local $bytes v128)
    (local.set $at (local.get $in))
    (local.set $line (local.get $in))
    (local.set $copied (local.get $in))
    (local.set $copyStart (local.get $copy))
    (global.set $readEnd (local.get $in))
    (global.set $copyEnd (local.get $copy))
    (block $done
      (loop $next
        ;; Between texts: a quote, or the end of the line
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
        ;; Inside a text: to its closing quote
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $text (local.get $at))
        (loop $inside
          (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
          (local.set $bytes (v128.load align=1 (local.get $at)))
          (local.set $found
            (i8x16.bitmask
              (v128.or
                (v128.or
                  (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
                  (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x0a))))))
          (if (i32.eqz (local.get $found))
            (then
              (local.set $at (i32.add (local.get $at) (i32.const 16)))
              (br $inside)))
          (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $found))))
          (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
          (local.set $byte (i32.load8_u (local.get $at)))
          (if (i32.eq (local.get $byte) (i32.const 0x5c))
            (then
              ;; What follows a backslash is part of the text, but for the end of a line that is torn
              (local.set $at
                (i32.add (local.get $at)
                  (select (i32.const 1) (i32.const 2)
                    (i32.eq (i32.load8_u offset=1 (local.get $at)) (i32.const 0x0a)))))
              (br $inside))))
        (br_if $next (i32.eq (local.get $byte) (i32.const 0x0a)))
        (if (i32.gt_u (i32.sub (local.get $at) (local.get $text)) (local.get $max))
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
