; SPDX-License-Identifier: Apache-2.0
; What holds for one element in its turn need not hold for a masked vector: addresses outside of the array, ranges of
; values, pointers that are never null, wrapping, the alignment of an array, and promises of one iteration.
; TARGET avx2 = -O2 -mavx2 -Wno-override-module -S -emit-llvm
; TARGET wide = -O2 -march=sapphirerapids -Wno-override-module -S -emit-llvm
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; avx2: remark: {{.*}}vectors of 4 x 8 lanes, the rest by single vectors and a masked step
; avx2: remark: {{.*}}13 iterations are 2 steps of 8 lanes, the last one masked

; Downwards, masked lanes lie below the array. The whole vectors before keep what is known of their addresses.
; avx2-LABEL: @down(
; avx2: getelementptr inbounds i8, ptr %{{[0-9]+}}, i64 -28
; avx2: [[load:%[0-9]+]] = getelementptr i8, ptr %{{[0-9]+}}, i64 -28
; avx2: @llvm.masked.load.v8i32.p0(ptr [[load]], i32 4,
; avx2: [[store:%[0-9]+]] = getelementptr i8, ptr %{{[0-9]+}}, i64 -28
; avx2: @llvm.masked.store.v8i32.p0(<8 x i32> %{{.*}}, ptr [[store]], i32 4,
define void @down(ptr noalias %c, ptr noalias %a, i64 %n) #1 {
entry:
  br label %loop

loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %next = add nsw i64 %i, -1
  %from = getelementptr inbounds i32, ptr %a, i64 %next
  %x = load i32, ptr %from, align 4
  %y = add i32 %x, 1
  %to = getelementptr inbounds i32, ptr %c, i64 %next
  store i32 %y, ptr %to, align 4
  %over = icmp sgt i64 %i, 1
  br i1 %over, label %loop, label %exit

exit:
  ret void
}

; avx2-LABEL: @short_down(
; avx2: [[place:%[0-9]+]] = getelementptr i8, ptr %c, i64 -12
; avx2: @llvm.masked.store.v8i32.p0(<8 x i32> %{{.*}}, ptr [[place]], i32 4,
; wide-LABEL: @short_down(
; wide: [[place:%[0-9]+]] = getelementptr i8, ptr %c, i64 -12
; wide: @llvm.masked.store.v16i32.p0(<16 x i32> %{{.*}}, ptr [[place]], i32 4,
define void @short_down(ptr noalias %c, ptr noalias %a) #0 {
entry:
  br label %loop

loop:
  %i = phi i64 [ 12, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from, align 4
  %y = add i32 %x, 1
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %y, ptr %to, align 4
  %next = add nsw i64 %i, -1
  %over = icmp eq i64 %i, 0
  br i1 %over, label %exit, label %loop

exit:
  ret void
}

; Numbers added in another order may wrap where the program's do not. They are folded once, whatever the rest is.
; avx2-LABEL: @sum(
; avx2: middle.block:
; avx2-NOT: @llvm.vector.reduce
; avx2: br i1
; avx2: [[last:%[0-9]+]] = getelementptr i32, ptr %{{[0-9]+}}, i64 %{{[0-9]+}}
; avx2: @llvm.masked.load.v8i32.p0(ptr [[last]], i32 4,
; avx2-NOT: add {{(nuw|nsw).*}}<8 x i32>
; avx2: @llvm.vector.reduce.add.v8i32
; avx2: ret i32
define i32 @sum(ptr noalias %a, i64 %n) #1 {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from, align 4
  %t = add nuw nsw i32 %s, %x
  %next = add nuw nsw i64 %i, 1
  %over = icmp eq i64 %next, %n
  br i1 %over, label %exit, label %loop

exit:
  ret i32 %t
}

; A masked lane has no value, so no range; the array's alignment is that of its first vector at most.
; avx2-LABEL: @numbers(
; avx2: @llvm.masked.load.v8i32.p0(ptr {{%[0-9]+}}, i32 4, {{.*}}poison)
; avx2-NOT: !range
; avx2-NOT: !noundef
; avx2: @llvm.masked.store.v8i32.p0({{.*}}, i32 4,
; avx2: ret void
define void @numbers(ptr noalias align 64 dereferenceable(4) %c, ptr noalias align 64 dereferenceable(4) %a) #1 {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from, align 4, !range !0, !noundef !1
  %y = add nuw nsw i32 %x, 2147483000
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %y, ptr %to, align 4
  %next = add nuw nsw i64 %i, 1
  %over = icmp eq i64 %next, 13
  br i1 %over, label %exit, label %loop

exit:
  ret void
}

; wide-LABEL: @pointers(
; wide: @llvm.masked.load.v8p0.p0(ptr {{.*}}, i32 8, {{.*}}poison){{$}}
; wide-NOT: {{!(nonnull|align|dereferenceable|noundef)}}
; wide: ret void
define void @pointers(ptr noalias %c, ptr noalias %a) #0 {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds ptr, ptr %a, i64 %i
  %x = load ptr, ptr %from, align 8, !nonnull !1, !align !2, !dereferenceable !2, !noundef !1
  %y = getelementptr inbounds i8, ptr %x, i64 4
  %to = getelementptr inbounds ptr, ptr %c, i64 %i
  store ptr %y, ptr %to, align 8
  %next = add nuw nsw i64 %i, 1
  %over = icmp eq i64 %next, 13
  br i1 %over, label %exit, label %loop

exit:
  ret void
}

; Strict arithmetic stays so, and what is promised of arithmetic is taken over.
; avx2-LABEL: @floats(
; avx2: fadd <8 x float>
; avx2: fmul nnan <8 x float>
; avx2: @llvm.masked.store.v8f32
; avx2: ret void
define void @floats(ptr noalias %c, ptr noalias %a) #1 {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds float, ptr %a, i64 %i
  %x = load float, ptr %from, align 4
  %y = fadd float %x, 1.0
  %z = fmul nnan float %y, %x
  %to = getelementptr inbounds float, ptr %c, i64 %i
  store float %z, ptr %to, align 4
  %next = add nuw nsw i64 %i, 1
  %over = icmp eq i64 %next, 13
  br i1 %over, label %exit, label %loop

exit:
  ret void
}

; Pointers that are apart within one iteration are not where lanes of several meet: what one lane stores, the fourth after
; it reads. A scope that each iteration begins says nothing of a vector; one from outside of the loop does.
; wide-LABEL: @scope_of_an_iteration(
; wide: @llvm.masked.store.v16i32.p0(<16 x i32> %{{.*}}), !alias.scope ![[#outside:]]{{$}}
; wide: @llvm.masked.load.v16i32.p0({{.*}}poison){{$}}
; wide: ret void
define void @scope_of_an_iteration(ptr %a, ptr noalias %b, ptr noalias %c) #0 {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void @llvm.experimental.noalias.scope.decl(metadata !5)
  %from = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load i32, ptr %from, align 4
  %fourth = add nuw nsw i64 %i, 4
  %ahead = getelementptr inbounds i32, ptr %a, i64 %fourth
  store i32 %x, ptr %ahead, align 4, !alias.scope !7, !noalias !5
  %behind = getelementptr inbounds i32, ptr %a, i64 %i
  %y = load i32, ptr %behind, align 4, !alias.scope !5
  %z = mul i32 %y, 3
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %z, ptr %to, align 4
  %next = add nuw nsw i64 %i, 1
  %over = icmp eq i64 %next, 13
  br i1 %over, label %exit, label %loop

exit:
  ret void
}

; That memory never changes stays true of what is read of it.
; avx2-LABEL: @constant_memory(
; avx2: @llvm.masked.load.v8i32.p0({{.*}}), !invariant.load
; avx2: ret void
define void @constant_memory(ptr noalias %c, ptr noalias %a) #1 {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from, align 4, !invariant.load !1
  %y = mul i32 %x, 5
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %y, ptr %to, align 4
  %next = add nuw nsw i64 %i, 1
  %over = icmp eq i64 %next, 13
  br i1 %over, label %exit, label %loop

exit:
  ret void
}

declare void @llvm.experimental.noalias.scope.decl(metadata)

attributes #0 = { "prefer-vector-width"="512" "target-features"="+avx2" "tune-cpu"="haswell" }
attributes #1 = { "target-features"="+avx2" "tune-cpu"="haswell" }

!0 = !{i32 0, i32 100}
!1 = !{}
!2 = !{i64 64}
!3 = distinct !{!3}
!4 = distinct !{!4, !3}
!5 = !{!4}
!6 = distinct !{!6, !3}
!7 = !{!6}
