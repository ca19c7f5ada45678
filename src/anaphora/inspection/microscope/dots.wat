;; Products of a matrix with several vectors, row after row, four numbers at once: y[r, k] = sum of w[r, c] x[k, c], c in whole
;; groups of four. `row` is the bytes of a row. numbers.js has it assembled (wabt 1.0.36: parseWat, toBinary, base64).
(module
  (import "page" "memory" (memory 0))
  (func (export "dots")
    (param $w i32) (param $x i32) (param $y i32) (param $rows i32) (param $row i32) (param $many i32)
    (local $k i32) (local $p i32) (local $q i32) (local $wide i32) (local $end i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (block $done
      (loop $next_row
        (br_if $done (i32.eqz (local.get $rows)))
        (local.set $q (local.get $x))
        (local.set $k (local.get $many))
        (loop $next_vector
          (local.set $p (local.get $w))
          (local.set $wide (i32.add (local.get $w) (i32.and (local.get $row) (i32.const -64))))
          (local.set $end (i32.add (local.get $w) (i32.and (local.get $row) (i32.const -16))))
          (local.set $a (v128.const i32x4 0 0 0 0))
          (local.set $b (local.get $a))
          (local.set $c (local.get $a))
          (local.set $d (local.get $a))
          (block $narrow
            (loop $sixteen
              (br_if $narrow (i32.ge_u (local.get $p) (local.get $wide)))
              (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load align=4 (local.get $p)) (v128.load align=4 (local.get $q)))))
              (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 align=4 (local.get $p)) (v128.load offset=16 align=4 (local.get $q)))))
              (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 align=4 (local.get $p)) (v128.load offset=32 align=4 (local.get $q)))))
              (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 align=4 (local.get $p)) (v128.load offset=48 align=4 (local.get $q)))))
              (local.set $p (i32.add (local.get $p) (i32.const 64)))
              (local.set $q (i32.add (local.get $q) (i32.const 64)))
              (br $sixteen)))
          (block $ended
            (loop $four
              (br_if $ended (i32.ge_u (local.get $p) (local.get $end)))
              (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load align=4 (local.get $p)) (v128.load align=4 (local.get $q)))))
              (local.set $p (i32.add (local.get $p) (i32.const 16)))
              (local.set $q (i32.add (local.get $q) (i32.const 16)))
              (br $four)))
          (local.set $a (f32x4.add (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
          (f32.store (local.get $y)
            (f32.add (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
                     (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
          (local.set $y (i32.add (local.get $y) (i32.const 4)))
          (local.set $q (i32.add (local.get $q) (i32.and (local.get $row) (i32.const 12))))
          (local.set $k (i32.sub (local.get $k) (i32.const 1)))
          (br_if $next_vector (local.get $k)))
        (local.set $w (i32.add (local.get $w) (local.get $row)))
        (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
        (br $next_row)))))
