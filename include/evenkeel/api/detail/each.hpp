// SPDX-License-Identifier: Apache-2.0
// EVENKEEL_PP_EACH(m, a, b, c) expands to m(a) m(b) m(c), for up to 80 entries. One macro per count expands
// faster than a recursive one.
#pragma once

#define EVENKEEL_PP_E1(m, a) m(a)
#define EVENKEEL_PP_E2(m, a, ...) m(a) EVENKEEL_PP_E1(m, __VA_ARGS__)
#define EVENKEEL_PP_E3(m, a, ...) m(a) EVENKEEL_PP_E2(m, __VA_ARGS__)
#define EVENKEEL_PP_E4(m, a, ...) m(a) EVENKEEL_PP_E3(m, __VA_ARGS__)
#define EVENKEEL_PP_E5(m, a, ...) m(a) EVENKEEL_PP_E4(m, __VA_ARGS__)
#define EVENKEEL_PP_E6(m, a, ...) m(a) EVENKEEL_PP_E5(m, __VA_ARGS__)
#define EVENKEEL_PP_E7(m, a, ...) m(a) EVENKEEL_PP_E6(m, __VA_ARGS__)
#define EVENKEEL_PP_E8(m, a, ...) m(a) EVENKEEL_PP_E7(m, __VA_ARGS__)
#define EVENKEEL_PP_E9(m, a, ...) m(a) EVENKEEL_PP_E8(m, __VA_ARGS__)
#define EVENKEEL_PP_E10(m, a, ...) m(a) EVENKEEL_PP_E9(m, __VA_ARGS__)
#define EVENKEEL_PP_E11(m, a, ...) m(a) EVENKEEL_PP_E10(m, __VA_ARGS__)
#define EVENKEEL_PP_E12(m, a, ...) m(a) EVENKEEL_PP_E11(m, __VA_ARGS__)
#define EVENKEEL_PP_E13(m, a, ...) m(a) EVENKEEL_PP_E12(m, __VA_ARGS__)
#define EVENKEEL_PP_E14(m, a, ...) m(a) EVENKEEL_PP_E13(m, __VA_ARGS__)
#define EVENKEEL_PP_E15(m, a, ...) m(a) EVENKEEL_PP_E14(m, __VA_ARGS__)
#define EVENKEEL_PP_E16(m, a, ...) m(a) EVENKEEL_PP_E15(m, __VA_ARGS__)
#define EVENKEEL_PP_E17(m, a, ...) m(a) EVENKEEL_PP_E16(m, __VA_ARGS__)
#define EVENKEEL_PP_E18(m, a, ...) m(a) EVENKEEL_PP_E17(m, __VA_ARGS__)
#define EVENKEEL_PP_E19(m, a, ...) m(a) EVENKEEL_PP_E18(m, __VA_ARGS__)
#define EVENKEEL_PP_E20(m, a, ...) m(a) EVENKEEL_PP_E19(m, __VA_ARGS__)
#define EVENKEEL_PP_E21(m, a, ...) m(a) EVENKEEL_PP_E20(m, __VA_ARGS__)
#define EVENKEEL_PP_E22(m, a, ...) m(a) EVENKEEL_PP_E21(m, __VA_ARGS__)
#define EVENKEEL_PP_E23(m, a, ...) m(a) EVENKEEL_PP_E22(m, __VA_ARGS__)
#define EVENKEEL_PP_E24(m, a, ...) m(a) EVENKEEL_PP_E23(m, __VA_ARGS__)
#define EVENKEEL_PP_E25(m, a, ...) m(a) EVENKEEL_PP_E24(m, __VA_ARGS__)
#define EVENKEEL_PP_E26(m, a, ...) m(a) EVENKEEL_PP_E25(m, __VA_ARGS__)
#define EVENKEEL_PP_E27(m, a, ...) m(a) EVENKEEL_PP_E26(m, __VA_ARGS__)
#define EVENKEEL_PP_E28(m, a, ...) m(a) EVENKEEL_PP_E27(m, __VA_ARGS__)
#define EVENKEEL_PP_E29(m, a, ...) m(a) EVENKEEL_PP_E28(m, __VA_ARGS__)
#define EVENKEEL_PP_E30(m, a, ...) m(a) EVENKEEL_PP_E29(m, __VA_ARGS__)
#define EVENKEEL_PP_E31(m, a, ...) m(a) EVENKEEL_PP_E30(m, __VA_ARGS__)
#define EVENKEEL_PP_E32(m, a, ...) m(a) EVENKEEL_PP_E31(m, __VA_ARGS__)
#define EVENKEEL_PP_E33(m, a, ...) m(a) EVENKEEL_PP_E32(m, __VA_ARGS__)
#define EVENKEEL_PP_E34(m, a, ...) m(a) EVENKEEL_PP_E33(m, __VA_ARGS__)
#define EVENKEEL_PP_E35(m, a, ...) m(a) EVENKEEL_PP_E34(m, __VA_ARGS__)
#define EVENKEEL_PP_E36(m, a, ...) m(a) EVENKEEL_PP_E35(m, __VA_ARGS__)
#define EVENKEEL_PP_E37(m, a, ...) m(a) EVENKEEL_PP_E36(m, __VA_ARGS__)
#define EVENKEEL_PP_E38(m, a, ...) m(a) EVENKEEL_PP_E37(m, __VA_ARGS__)
#define EVENKEEL_PP_E39(m, a, ...) m(a) EVENKEEL_PP_E38(m, __VA_ARGS__)
#define EVENKEEL_PP_E40(m, a, ...) m(a) EVENKEEL_PP_E39(m, __VA_ARGS__)
#define EVENKEEL_PP_E41(m, a, ...) m(a) EVENKEEL_PP_E40(m, __VA_ARGS__)
#define EVENKEEL_PP_E42(m, a, ...) m(a) EVENKEEL_PP_E41(m, __VA_ARGS__)
#define EVENKEEL_PP_E43(m, a, ...) m(a) EVENKEEL_PP_E42(m, __VA_ARGS__)
#define EVENKEEL_PP_E44(m, a, ...) m(a) EVENKEEL_PP_E43(m, __VA_ARGS__)
#define EVENKEEL_PP_E45(m, a, ...) m(a) EVENKEEL_PP_E44(m, __VA_ARGS__)
#define EVENKEEL_PP_E46(m, a, ...) m(a) EVENKEEL_PP_E45(m, __VA_ARGS__)
#define EVENKEEL_PP_E47(m, a, ...) m(a) EVENKEEL_PP_E46(m, __VA_ARGS__)
#define EVENKEEL_PP_E48(m, a, ...) m(a) EVENKEEL_PP_E47(m, __VA_ARGS__)
#define EVENKEEL_PP_E49(m, a, ...) m(a) EVENKEEL_PP_E48(m, __VA_ARGS__)
#define EVENKEEL_PP_E50(m, a, ...) m(a) EVENKEEL_PP_E49(m, __VA_ARGS__)
#define EVENKEEL_PP_E51(m, a, ...) m(a) EVENKEEL_PP_E50(m, __VA_ARGS__)
#define EVENKEEL_PP_E52(m, a, ...) m(a) EVENKEEL_PP_E51(m, __VA_ARGS__)
#define EVENKEEL_PP_E53(m, a, ...) m(a) EVENKEEL_PP_E52(m, __VA_ARGS__)
#define EVENKEEL_PP_E54(m, a, ...) m(a) EVENKEEL_PP_E53(m, __VA_ARGS__)
#define EVENKEEL_PP_E55(m, a, ...) m(a) EVENKEEL_PP_E54(m, __VA_ARGS__)
#define EVENKEEL_PP_E56(m, a, ...) m(a) EVENKEEL_PP_E55(m, __VA_ARGS__)
#define EVENKEEL_PP_E57(m, a, ...) m(a) EVENKEEL_PP_E56(m, __VA_ARGS__)
#define EVENKEEL_PP_E58(m, a, ...) m(a) EVENKEEL_PP_E57(m, __VA_ARGS__)
#define EVENKEEL_PP_E59(m, a, ...) m(a) EVENKEEL_PP_E58(m, __VA_ARGS__)
#define EVENKEEL_PP_E60(m, a, ...) m(a) EVENKEEL_PP_E59(m, __VA_ARGS__)
#define EVENKEEL_PP_E61(m, a, ...) m(a) EVENKEEL_PP_E60(m, __VA_ARGS__)
#define EVENKEEL_PP_E62(m, a, ...) m(a) EVENKEEL_PP_E61(m, __VA_ARGS__)
#define EVENKEEL_PP_E63(m, a, ...) m(a) EVENKEEL_PP_E62(m, __VA_ARGS__)
#define EVENKEEL_PP_E64(m, a, ...) m(a) EVENKEEL_PP_E63(m, __VA_ARGS__)
#define EVENKEEL_PP_E65(m, a, ...) m(a) EVENKEEL_PP_E64(m, __VA_ARGS__)
#define EVENKEEL_PP_E66(m, a, ...) m(a) EVENKEEL_PP_E65(m, __VA_ARGS__)
#define EVENKEEL_PP_E67(m, a, ...) m(a) EVENKEEL_PP_E66(m, __VA_ARGS__)
#define EVENKEEL_PP_E68(m, a, ...) m(a) EVENKEEL_PP_E67(m, __VA_ARGS__)
#define EVENKEEL_PP_E69(m, a, ...) m(a) EVENKEEL_PP_E68(m, __VA_ARGS__)
#define EVENKEEL_PP_E70(m, a, ...) m(a) EVENKEEL_PP_E69(m, __VA_ARGS__)
#define EVENKEEL_PP_E71(m, a, ...) m(a) EVENKEEL_PP_E70(m, __VA_ARGS__)
#define EVENKEEL_PP_E72(m, a, ...) m(a) EVENKEEL_PP_E71(m, __VA_ARGS__)
#define EVENKEEL_PP_E73(m, a, ...) m(a) EVENKEEL_PP_E72(m, __VA_ARGS__)
#define EVENKEEL_PP_E74(m, a, ...) m(a) EVENKEEL_PP_E73(m, __VA_ARGS__)
#define EVENKEEL_PP_E75(m, a, ...) m(a) EVENKEEL_PP_E74(m, __VA_ARGS__)
#define EVENKEEL_PP_E76(m, a, ...) m(a) EVENKEEL_PP_E75(m, __VA_ARGS__)
#define EVENKEEL_PP_E77(m, a, ...) m(a) EVENKEEL_PP_E76(m, __VA_ARGS__)
#define EVENKEEL_PP_E78(m, a, ...) m(a) EVENKEEL_PP_E77(m, __VA_ARGS__)
#define EVENKEEL_PP_E79(m, a, ...) m(a) EVENKEEL_PP_E78(m, __VA_ARGS__)
#define EVENKEEL_PP_E80(m, a, ...) m(a) EVENKEEL_PP_E79(m, __VA_ARGS__)
#define EVENKEEL_PP_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,   \
                         a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34,    \
                         a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50,    \
                         a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66,    \
                         a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, chosen, ...) \
  chosen
#define EVENKEEL_PP_EACH(m, ...)                                                                            \
  EVENKEEL_PP_PICK(                                                                                         \
      __VA_ARGS__, EVENKEEL_PP_E80, EVENKEEL_PP_E79, EVENKEEL_PP_E78, EVENKEEL_PP_E77, EVENKEEL_PP_E76,     \
      EVENKEEL_PP_E75, EVENKEEL_PP_E74, EVENKEEL_PP_E73, EVENKEEL_PP_E72, EVENKEEL_PP_E71, EVENKEEL_PP_E70, \
      EVENKEEL_PP_E69, EVENKEEL_PP_E68, EVENKEEL_PP_E67, EVENKEEL_PP_E66, EVENKEEL_PP_E65, EVENKEEL_PP_E64, \
      EVENKEEL_PP_E63, EVENKEEL_PP_E62, EVENKEEL_PP_E61, EVENKEEL_PP_E60, EVENKEEL_PP_E59, EVENKEEL_PP_E58, \
      EVENKEEL_PP_E57, EVENKEEL_PP_E56, EVENKEEL_PP_E55, EVENKEEL_PP_E54, EVENKEEL_PP_E53, EVENKEEL_PP_E52, \
      EVENKEEL_PP_E51, EVENKEEL_PP_E50, EVENKEEL_PP_E49, EVENKEEL_PP_E48, EVENKEEL_PP_E47, EVENKEEL_PP_E46, \
      EVENKEEL_PP_E45, EVENKEEL_PP_E44, EVENKEEL_PP_E43, EVENKEEL_PP_E42, EVENKEEL_PP_E41, EVENKEEL_PP_E40, \
      EVENKEEL_PP_E39, EVENKEEL_PP_E38, EVENKEEL_PP_E37, EVENKEEL_PP_E36, EVENKEEL_PP_E35, EVENKEEL_PP_E34, \
      EVENKEEL_PP_E33, EVENKEEL_PP_E32, EVENKEEL_PP_E31, EVENKEEL_PP_E30, EVENKEEL_PP_E29, EVENKEEL_PP_E28, \
      EVENKEEL_PP_E27, EVENKEEL_PP_E26, EVENKEEL_PP_E25, EVENKEEL_PP_E24, EVENKEEL_PP_E23, EVENKEEL_PP_E22, \
      EVENKEEL_PP_E21, EVENKEEL_PP_E20, EVENKEEL_PP_E19, EVENKEEL_PP_E18, EVENKEEL_PP_E17, EVENKEEL_PP_E16, \
      EVENKEEL_PP_E15, EVENKEEL_PP_E14, EVENKEEL_PP_E13, EVENKEEL_PP_E12, EVENKEEL_PP_E11, EVENKEEL_PP_E10, \
      EVENKEEL_PP_E9, EVENKEEL_PP_E8, EVENKEEL_PP_E7, EVENKEEL_PP_E6, EVENKEEL_PP_E5, EVENKEEL_PP_E4,       \
      EVENKEEL_PP_E3, EVENKEEL_PP_E2, EVENKEEL_PP_E1, ~)                                                    \
  (m, __VA_ARGS__)
