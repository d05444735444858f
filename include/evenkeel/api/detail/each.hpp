// SPDX-License-Identifier: Apache-2.0
// EVENKEEL_PP_EACH(m, a, b, c) expands to m(a) m(b) m(c), for up to 200 entries. One macro per count expands
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
#define EVENKEEL_PP_E81(m, a, ...) m(a) EVENKEEL_PP_E80(m, __VA_ARGS__)
#define EVENKEEL_PP_E82(m, a, ...) m(a) EVENKEEL_PP_E81(m, __VA_ARGS__)
#define EVENKEEL_PP_E83(m, a, ...) m(a) EVENKEEL_PP_E82(m, __VA_ARGS__)
#define EVENKEEL_PP_E84(m, a, ...) m(a) EVENKEEL_PP_E83(m, __VA_ARGS__)
#define EVENKEEL_PP_E85(m, a, ...) m(a) EVENKEEL_PP_E84(m, __VA_ARGS__)
#define EVENKEEL_PP_E86(m, a, ...) m(a) EVENKEEL_PP_E85(m, __VA_ARGS__)
#define EVENKEEL_PP_E87(m, a, ...) m(a) EVENKEEL_PP_E86(m, __VA_ARGS__)
#define EVENKEEL_PP_E88(m, a, ...) m(a) EVENKEEL_PP_E87(m, __VA_ARGS__)
#define EVENKEEL_PP_E89(m, a, ...) m(a) EVENKEEL_PP_E88(m, __VA_ARGS__)
#define EVENKEEL_PP_E90(m, a, ...) m(a) EVENKEEL_PP_E89(m, __VA_ARGS__)
#define EVENKEEL_PP_E91(m, a, ...) m(a) EVENKEEL_PP_E90(m, __VA_ARGS__)
#define EVENKEEL_PP_E92(m, a, ...) m(a) EVENKEEL_PP_E91(m, __VA_ARGS__)
#define EVENKEEL_PP_E93(m, a, ...) m(a) EVENKEEL_PP_E92(m, __VA_ARGS__)
#define EVENKEEL_PP_E94(m, a, ...) m(a) EVENKEEL_PP_E93(m, __VA_ARGS__)
#define EVENKEEL_PP_E95(m, a, ...) m(a) EVENKEEL_PP_E94(m, __VA_ARGS__)
#define EVENKEEL_PP_E96(m, a, ...) m(a) EVENKEEL_PP_E95(m, __VA_ARGS__)
#define EVENKEEL_PP_E97(m, a, ...) m(a) EVENKEEL_PP_E96(m, __VA_ARGS__)
#define EVENKEEL_PP_E98(m, a, ...) m(a) EVENKEEL_PP_E97(m, __VA_ARGS__)
#define EVENKEEL_PP_E99(m, a, ...) m(a) EVENKEEL_PP_E98(m, __VA_ARGS__)
#define EVENKEEL_PP_E100(m, a, ...) m(a) EVENKEEL_PP_E99(m, __VA_ARGS__)
#define EVENKEEL_PP_E101(m, a, ...) m(a) EVENKEEL_PP_E100(m, __VA_ARGS__)
#define EVENKEEL_PP_E102(m, a, ...) m(a) EVENKEEL_PP_E101(m, __VA_ARGS__)
#define EVENKEEL_PP_E103(m, a, ...) m(a) EVENKEEL_PP_E102(m, __VA_ARGS__)
#define EVENKEEL_PP_E104(m, a, ...) m(a) EVENKEEL_PP_E103(m, __VA_ARGS__)
#define EVENKEEL_PP_E105(m, a, ...) m(a) EVENKEEL_PP_E104(m, __VA_ARGS__)
#define EVENKEEL_PP_E106(m, a, ...) m(a) EVENKEEL_PP_E105(m, __VA_ARGS__)
#define EVENKEEL_PP_E107(m, a, ...) m(a) EVENKEEL_PP_E106(m, __VA_ARGS__)
#define EVENKEEL_PP_E108(m, a, ...) m(a) EVENKEEL_PP_E107(m, __VA_ARGS__)
#define EVENKEEL_PP_E109(m, a, ...) m(a) EVENKEEL_PP_E108(m, __VA_ARGS__)
#define EVENKEEL_PP_E110(m, a, ...) m(a) EVENKEEL_PP_E109(m, __VA_ARGS__)
#define EVENKEEL_PP_E111(m, a, ...) m(a) EVENKEEL_PP_E110(m, __VA_ARGS__)
#define EVENKEEL_PP_E112(m, a, ...) m(a) EVENKEEL_PP_E111(m, __VA_ARGS__)
#define EVENKEEL_PP_E113(m, a, ...) m(a) EVENKEEL_PP_E112(m, __VA_ARGS__)
#define EVENKEEL_PP_E114(m, a, ...) m(a) EVENKEEL_PP_E113(m, __VA_ARGS__)
#define EVENKEEL_PP_E115(m, a, ...) m(a) EVENKEEL_PP_E114(m, __VA_ARGS__)
#define EVENKEEL_PP_E116(m, a, ...) m(a) EVENKEEL_PP_E115(m, __VA_ARGS__)
#define EVENKEEL_PP_E117(m, a, ...) m(a) EVENKEEL_PP_E116(m, __VA_ARGS__)
#define EVENKEEL_PP_E118(m, a, ...) m(a) EVENKEEL_PP_E117(m, __VA_ARGS__)
#define EVENKEEL_PP_E119(m, a, ...) m(a) EVENKEEL_PP_E118(m, __VA_ARGS__)
#define EVENKEEL_PP_E120(m, a, ...) m(a) EVENKEEL_PP_E119(m, __VA_ARGS__)
#define EVENKEEL_PP_E121(m, a, ...) m(a) EVENKEEL_PP_E120(m, __VA_ARGS__)
#define EVENKEEL_PP_E122(m, a, ...) m(a) EVENKEEL_PP_E121(m, __VA_ARGS__)
#define EVENKEEL_PP_E123(m, a, ...) m(a) EVENKEEL_PP_E122(m, __VA_ARGS__)
#define EVENKEEL_PP_E124(m, a, ...) m(a) EVENKEEL_PP_E123(m, __VA_ARGS__)
#define EVENKEEL_PP_E125(m, a, ...) m(a) EVENKEEL_PP_E124(m, __VA_ARGS__)
#define EVENKEEL_PP_E126(m, a, ...) m(a) EVENKEEL_PP_E125(m, __VA_ARGS__)
#define EVENKEEL_PP_E127(m, a, ...) m(a) EVENKEEL_PP_E126(m, __VA_ARGS__)
#define EVENKEEL_PP_E128(m, a, ...) m(a) EVENKEEL_PP_E127(m, __VA_ARGS__)
#define EVENKEEL_PP_E129(m, a, ...) m(a) EVENKEEL_PP_E128(m, __VA_ARGS__)
#define EVENKEEL_PP_E130(m, a, ...) m(a) EVENKEEL_PP_E129(m, __VA_ARGS__)
#define EVENKEEL_PP_E131(m, a, ...) m(a) EVENKEEL_PP_E130(m, __VA_ARGS__)
#define EVENKEEL_PP_E132(m, a, ...) m(a) EVENKEEL_PP_E131(m, __VA_ARGS__)
#define EVENKEEL_PP_E133(m, a, ...) m(a) EVENKEEL_PP_E132(m, __VA_ARGS__)
#define EVENKEEL_PP_E134(m, a, ...) m(a) EVENKEEL_PP_E133(m, __VA_ARGS__)
#define EVENKEEL_PP_E135(m, a, ...) m(a) EVENKEEL_PP_E134(m, __VA_ARGS__)
#define EVENKEEL_PP_E136(m, a, ...) m(a) EVENKEEL_PP_E135(m, __VA_ARGS__)
#define EVENKEEL_PP_E137(m, a, ...) m(a) EVENKEEL_PP_E136(m, __VA_ARGS__)
#define EVENKEEL_PP_E138(m, a, ...) m(a) EVENKEEL_PP_E137(m, __VA_ARGS__)
#define EVENKEEL_PP_E139(m, a, ...) m(a) EVENKEEL_PP_E138(m, __VA_ARGS__)
#define EVENKEEL_PP_E140(m, a, ...) m(a) EVENKEEL_PP_E139(m, __VA_ARGS__)
#define EVENKEEL_PP_E141(m, a, ...) m(a) EVENKEEL_PP_E140(m, __VA_ARGS__)
#define EVENKEEL_PP_E142(m, a, ...) m(a) EVENKEEL_PP_E141(m, __VA_ARGS__)
#define EVENKEEL_PP_E143(m, a, ...) m(a) EVENKEEL_PP_E142(m, __VA_ARGS__)
#define EVENKEEL_PP_E144(m, a, ...) m(a) EVENKEEL_PP_E143(m, __VA_ARGS__)
#define EVENKEEL_PP_E145(m, a, ...) m(a) EVENKEEL_PP_E144(m, __VA_ARGS__)
#define EVENKEEL_PP_E146(m, a, ...) m(a) EVENKEEL_PP_E145(m, __VA_ARGS__)
#define EVENKEEL_PP_E147(m, a, ...) m(a) EVENKEEL_PP_E146(m, __VA_ARGS__)
#define EVENKEEL_PP_E148(m, a, ...) m(a) EVENKEEL_PP_E147(m, __VA_ARGS__)
#define EVENKEEL_PP_E149(m, a, ...) m(a) EVENKEEL_PP_E148(m, __VA_ARGS__)
#define EVENKEEL_PP_E150(m, a, ...) m(a) EVENKEEL_PP_E149(m, __VA_ARGS__)
#define EVENKEEL_PP_E151(m, a, ...) m(a) EVENKEEL_PP_E150(m, __VA_ARGS__)
#define EVENKEEL_PP_E152(m, a, ...) m(a) EVENKEEL_PP_E151(m, __VA_ARGS__)
#define EVENKEEL_PP_E153(m, a, ...) m(a) EVENKEEL_PP_E152(m, __VA_ARGS__)
#define EVENKEEL_PP_E154(m, a, ...) m(a) EVENKEEL_PP_E153(m, __VA_ARGS__)
#define EVENKEEL_PP_E155(m, a, ...) m(a) EVENKEEL_PP_E154(m, __VA_ARGS__)
#define EVENKEEL_PP_E156(m, a, ...) m(a) EVENKEEL_PP_E155(m, __VA_ARGS__)
#define EVENKEEL_PP_E157(m, a, ...) m(a) EVENKEEL_PP_E156(m, __VA_ARGS__)
#define EVENKEEL_PP_E158(m, a, ...) m(a) EVENKEEL_PP_E157(m, __VA_ARGS__)
#define EVENKEEL_PP_E159(m, a, ...) m(a) EVENKEEL_PP_E158(m, __VA_ARGS__)
#define EVENKEEL_PP_E160(m, a, ...) m(a) EVENKEEL_PP_E159(m, __VA_ARGS__)
#define EVENKEEL_PP_E161(m, a, ...) m(a) EVENKEEL_PP_E160(m, __VA_ARGS__)
#define EVENKEEL_PP_E162(m, a, ...) m(a) EVENKEEL_PP_E161(m, __VA_ARGS__)
#define EVENKEEL_PP_E163(m, a, ...) m(a) EVENKEEL_PP_E162(m, __VA_ARGS__)
#define EVENKEEL_PP_E164(m, a, ...) m(a) EVENKEEL_PP_E163(m, __VA_ARGS__)
#define EVENKEEL_PP_E165(m, a, ...) m(a) EVENKEEL_PP_E164(m, __VA_ARGS__)
#define EVENKEEL_PP_E166(m, a, ...) m(a) EVENKEEL_PP_E165(m, __VA_ARGS__)
#define EVENKEEL_PP_E167(m, a, ...) m(a) EVENKEEL_PP_E166(m, __VA_ARGS__)
#define EVENKEEL_PP_E168(m, a, ...) m(a) EVENKEEL_PP_E167(m, __VA_ARGS__)
#define EVENKEEL_PP_E169(m, a, ...) m(a) EVENKEEL_PP_E168(m, __VA_ARGS__)
#define EVENKEEL_PP_E170(m, a, ...) m(a) EVENKEEL_PP_E169(m, __VA_ARGS__)
#define EVENKEEL_PP_E171(m, a, ...) m(a) EVENKEEL_PP_E170(m, __VA_ARGS__)
#define EVENKEEL_PP_E172(m, a, ...) m(a) EVENKEEL_PP_E171(m, __VA_ARGS__)
#define EVENKEEL_PP_E173(m, a, ...) m(a) EVENKEEL_PP_E172(m, __VA_ARGS__)
#define EVENKEEL_PP_E174(m, a, ...) m(a) EVENKEEL_PP_E173(m, __VA_ARGS__)
#define EVENKEEL_PP_E175(m, a, ...) m(a) EVENKEEL_PP_E174(m, __VA_ARGS__)
#define EVENKEEL_PP_E176(m, a, ...) m(a) EVENKEEL_PP_E175(m, __VA_ARGS__)
#define EVENKEEL_PP_E177(m, a, ...) m(a) EVENKEEL_PP_E176(m, __VA_ARGS__)
#define EVENKEEL_PP_E178(m, a, ...) m(a) EVENKEEL_PP_E177(m, __VA_ARGS__)
#define EVENKEEL_PP_E179(m, a, ...) m(a) EVENKEEL_PP_E178(m, __VA_ARGS__)
#define EVENKEEL_PP_E180(m, a, ...) m(a) EVENKEEL_PP_E179(m, __VA_ARGS__)
#define EVENKEEL_PP_E181(m, a, ...) m(a) EVENKEEL_PP_E180(m, __VA_ARGS__)
#define EVENKEEL_PP_E182(m, a, ...) m(a) EVENKEEL_PP_E181(m, __VA_ARGS__)
#define EVENKEEL_PP_E183(m, a, ...) m(a) EVENKEEL_PP_E182(m, __VA_ARGS__)
#define EVENKEEL_PP_E184(m, a, ...) m(a) EVENKEEL_PP_E183(m, __VA_ARGS__)
#define EVENKEEL_PP_E185(m, a, ...) m(a) EVENKEEL_PP_E184(m, __VA_ARGS__)
#define EVENKEEL_PP_E186(m, a, ...) m(a) EVENKEEL_PP_E185(m, __VA_ARGS__)
#define EVENKEEL_PP_E187(m, a, ...) m(a) EVENKEEL_PP_E186(m, __VA_ARGS__)
#define EVENKEEL_PP_E188(m, a, ...) m(a) EVENKEEL_PP_E187(m, __VA_ARGS__)
#define EVENKEEL_PP_E189(m, a, ...) m(a) EVENKEEL_PP_E188(m, __VA_ARGS__)
#define EVENKEEL_PP_E190(m, a, ...) m(a) EVENKEEL_PP_E189(m, __VA_ARGS__)
#define EVENKEEL_PP_E191(m, a, ...) m(a) EVENKEEL_PP_E190(m, __VA_ARGS__)
#define EVENKEEL_PP_E192(m, a, ...) m(a) EVENKEEL_PP_E191(m, __VA_ARGS__)
#define EVENKEEL_PP_E193(m, a, ...) m(a) EVENKEEL_PP_E192(m, __VA_ARGS__)
#define EVENKEEL_PP_E194(m, a, ...) m(a) EVENKEEL_PP_E193(m, __VA_ARGS__)
#define EVENKEEL_PP_E195(m, a, ...) m(a) EVENKEEL_PP_E194(m, __VA_ARGS__)
#define EVENKEEL_PP_E196(m, a, ...) m(a) EVENKEEL_PP_E195(m, __VA_ARGS__)
#define EVENKEEL_PP_E197(m, a, ...) m(a) EVENKEEL_PP_E196(m, __VA_ARGS__)
#define EVENKEEL_PP_E198(m, a, ...) m(a) EVENKEEL_PP_E197(m, __VA_ARGS__)
#define EVENKEEL_PP_E199(m, a, ...) m(a) EVENKEEL_PP_E198(m, __VA_ARGS__)
#define EVENKEEL_PP_E200(m, a, ...) m(a) EVENKEEL_PP_E199(m, __VA_ARGS__)
#define EVENKEEL_PP_PICK(                                                                                    \
    a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22,     \
    a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, \
    a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, \
    a65, a66, a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, a83, a84, a85, \
    a86, a87, a88, a89, a90, a91, a92, a93, a94, a95, a96, a97, a98, a99, a100, a101, a102, a103, a104,      \
    a105, a106, a107, a108, a109, a110, a111, a112, a113, a114, a115, a116, a117, a118, a119, a120, a121,    \
    a122, a123, a124, a125, a126, a127, a128, a129, a130, a131, a132, a133, a134, a135, a136, a137, a138,    \
    a139, a140, a141, a142, a143, a144, a145, a146, a147, a148, a149, a150, a151, a152, a153, a154, a155,    \
    a156, a157, a158, a159, a160, a161, a162, a163, a164, a165, a166, a167, a168, a169, a170, a171, a172,    \
    a173, a174, a175, a176, a177, a178, a179, a180, a181, a182, a183, a184, a185, a186, a187, a188, a189,    \
    a190, a191, a192, a193, a194, a195, a196, a197, a198, a199, a200, chosen, ...)                           \
  chosen
#define EVENKEEL_PP_EACH(m, ...)                                                                             \
  EVENKEEL_PP_PICK(                                                                                          \
      __VA_ARGS__, EVENKEEL_PP_E200, EVENKEEL_PP_E199, EVENKEEL_PP_E198, EVENKEEL_PP_E197, EVENKEEL_PP_E196, \
      EVENKEEL_PP_E195, EVENKEEL_PP_E194, EVENKEEL_PP_E193, EVENKEEL_PP_E192, EVENKEEL_PP_E191,              \
      EVENKEEL_PP_E190, EVENKEEL_PP_E189, EVENKEEL_PP_E188, EVENKEEL_PP_E187, EVENKEEL_PP_E186,              \
      EVENKEEL_PP_E185, EVENKEEL_PP_E184, EVENKEEL_PP_E183, EVENKEEL_PP_E182, EVENKEEL_PP_E181,              \
      EVENKEEL_PP_E180, EVENKEEL_PP_E179, EVENKEEL_PP_E178, EVENKEEL_PP_E177, EVENKEEL_PP_E176,              \
      EVENKEEL_PP_E175, EVENKEEL_PP_E174, EVENKEEL_PP_E173, EVENKEEL_PP_E172, EVENKEEL_PP_E171,              \
      EVENKEEL_PP_E170, EVENKEEL_PP_E169, EVENKEEL_PP_E168, EVENKEEL_PP_E167, EVENKEEL_PP_E166,              \
      EVENKEEL_PP_E165, EVENKEEL_PP_E164, EVENKEEL_PP_E163, EVENKEEL_PP_E162, EVENKEEL_PP_E161,              \
      EVENKEEL_PP_E160, EVENKEEL_PP_E159, EVENKEEL_PP_E158, EVENKEEL_PP_E157, EVENKEEL_PP_E156,              \
      EVENKEEL_PP_E155, EVENKEEL_PP_E154, EVENKEEL_PP_E153, EVENKEEL_PP_E152, EVENKEEL_PP_E151,              \
      EVENKEEL_PP_E150, EVENKEEL_PP_E149, EVENKEEL_PP_E148, EVENKEEL_PP_E147, EVENKEEL_PP_E146,              \
      EVENKEEL_PP_E145, EVENKEEL_PP_E144, EVENKEEL_PP_E143, EVENKEEL_PP_E142, EVENKEEL_PP_E141,              \
      EVENKEEL_PP_E140, EVENKEEL_PP_E139, EVENKEEL_PP_E138, EVENKEEL_PP_E137, EVENKEEL_PP_E136,              \
      EVENKEEL_PP_E135, EVENKEEL_PP_E134, EVENKEEL_PP_E133, EVENKEEL_PP_E132, EVENKEEL_PP_E131,              \
      EVENKEEL_PP_E130, EVENKEEL_PP_E129, EVENKEEL_PP_E128, EVENKEEL_PP_E127, EVENKEEL_PP_E126,              \
      EVENKEEL_PP_E125, EVENKEEL_PP_E124, EVENKEEL_PP_E123, EVENKEEL_PP_E122, EVENKEEL_PP_E121,              \
      EVENKEEL_PP_E120, EVENKEEL_PP_E119, EVENKEEL_PP_E118, EVENKEEL_PP_E117, EVENKEEL_PP_E116,              \
      EVENKEEL_PP_E115, EVENKEEL_PP_E114, EVENKEEL_PP_E113, EVENKEEL_PP_E112, EVENKEEL_PP_E111,              \
      EVENKEEL_PP_E110, EVENKEEL_PP_E109, EVENKEEL_PP_E108, EVENKEEL_PP_E107, EVENKEEL_PP_E106,              \
      EVENKEEL_PP_E105, EVENKEEL_PP_E104, EVENKEEL_PP_E103, EVENKEEL_PP_E102, EVENKEEL_PP_E101,              \
      EVENKEEL_PP_E100, EVENKEEL_PP_E99, EVENKEEL_PP_E98, EVENKEEL_PP_E97, EVENKEEL_PP_E96, EVENKEEL_PP_E95, \
      EVENKEEL_PP_E94, EVENKEEL_PP_E93, EVENKEEL_PP_E92, EVENKEEL_PP_E91, EVENKEEL_PP_E90, EVENKEEL_PP_E89,  \
      EVENKEEL_PP_E88, EVENKEEL_PP_E87, EVENKEEL_PP_E86, EVENKEEL_PP_E85, EVENKEEL_PP_E84, EVENKEEL_PP_E83,  \
      EVENKEEL_PP_E82, EVENKEEL_PP_E81, EVENKEEL_PP_E80, EVENKEEL_PP_E79, EVENKEEL_PP_E78, EVENKEEL_PP_E77,  \
      EVENKEEL_PP_E76, EVENKEEL_PP_E75, EVENKEEL_PP_E74, EVENKEEL_PP_E73, EVENKEEL_PP_E72, EVENKEEL_PP_E71,  \
      EVENKEEL_PP_E70, EVENKEEL_PP_E69, EVENKEEL_PP_E68, EVENKEEL_PP_E67, EVENKEEL_PP_E66, EVENKEEL_PP_E65,  \
      EVENKEEL_PP_E64, EVENKEEL_PP_E63, EVENKEEL_PP_E62, EVENKEEL_PP_E61, EVENKEEL_PP_E60, EVENKEEL_PP_E59,  \
      EVENKEEL_PP_E58, EVENKEEL_PP_E57, EVENKEEL_PP_E56, EVENKEEL_PP_E55, EVENKEEL_PP_E54, EVENKEEL_PP_E53,  \
      EVENKEEL_PP_E52, EVENKEEL_PP_E51, EVENKEEL_PP_E50, EVENKEEL_PP_E49, EVENKEEL_PP_E48, EVENKEEL_PP_E47,  \
      EVENKEEL_PP_E46, EVENKEEL_PP_E45, EVENKEEL_PP_E44, EVENKEEL_PP_E43, EVENKEEL_PP_E42, EVENKEEL_PP_E41,  \
      EVENKEEL_PP_E40, EVENKEEL_PP_E39, EVENKEEL_PP_E38, EVENKEEL_PP_E37, EVENKEEL_PP_E36, EVENKEEL_PP_E35,  \
      EVENKEEL_PP_E34, EVENKEEL_PP_E33, EVENKEEL_PP_E32, EVENKEEL_PP_E31, EVENKEEL_PP_E30, EVENKEEL_PP_E29,  \
      EVENKEEL_PP_E28, EVENKEEL_PP_E27, EVENKEEL_PP_E26, EVENKEEL_PP_E25, EVENKEEL_PP_E24, EVENKEEL_PP_E23,  \
      EVENKEEL_PP_E22, EVENKEEL_PP_E21, EVENKEEL_PP_E20, EVENKEEL_PP_E19, EVENKEEL_PP_E18, EVENKEEL_PP_E17,  \
      EVENKEEL_PP_E16, EVENKEEL_PP_E15, EVENKEEL_PP_E14, EVENKEEL_PP_E13, EVENKEEL_PP_E12, EVENKEEL_PP_E11,  \
      EVENKEEL_PP_E10, EVENKEEL_PP_E9, EVENKEEL_PP_E8, EVENKEEL_PP_E7, EVENKEEL_PP_E6, EVENKEEL_PP_E5,       \
      EVENKEEL_PP_E4, EVENKEEL_PP_E3, EVENKEEL_PP_E2, EVENKEEL_PP_E1, ~)                                     \
  (m, __VA_ARGS__)
