/* Names of C++: what c++filt of binutils 2.40 makes of those that nvcc 13.0 gave to kernels, and of broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"

static const struct {
    const char *mangled, *name;
} names[] = {
    {"_Z2arIfLm4EEv3arrIT_XT0_EEPS2_S0_IS0_IS1_Lm2EEXT0_EE",
     "void ar<float, 4ul>(arr<float, 4ul>, arr<float, 4ul>*, arr<arr<float, 2ul>, 4ul>)"},
    {"_Z2enIL1E3EL2EC7ELj5ELln6ELs7ELc97EEvPi", "void en<(E)3, (EC)7, 5u, -6l, (short)7, (char)97>(int*)"},
    {"_Z2fpPFvifEPA3_icahstlmx", "fp(void (*)(int, float), int (*) [3], char, signed char, unsigned char, short, "
                                 "unsigned short, long, unsigned long, long long)"},
    {"_Z2ttIN2ns1VEEvT_IiE", "void tt<ns::V>(ns::V<int>)"},
    {"_Z3twoIN2ns1SEPKcEvT_T0_PS4_PS5_PKS4_RKS5_",
     "void two<ns::S, char const*>(ns::S, char const*, ns::S*, char const**, ns::S const*, char const* const&)"},
    {"_Z3twoIPFviEiEvT_T0_PS2_PS3_PKS2_RKS3_",
     "void two<void (*)(int), int>(void (*)(int), int, void (**)(int), int*, void (* const*)(int), int const&)"},
    {"_Z4callI2FnEvT_i", "void call<Fn>(Fn, int)"},
    {"_Z4callIZ4mainEUliE_EvT_i", "void call<main::{lambda(int)#1}>(main::{lambda(int)#1}, int)"},
    {"_Z4fillIN2ns1VIiEEEvPT_S3_i", "void fill<ns::V<int> >(ns::V<int>*, ns::V<int>, int)"},
    {"_Z4fillIdEvPT_S0_i", "void fill<double>(double*, double, int)"},
    {"_Z4fillIfEvPT_S0_i", "void fill<float>(float*, float, int)"},
    {"_Z4packIJEEvDpT_", "void pack<>()"},
    {"_Z4packIJifcEEvDpT_", "void pack<int, float, char>(int, float, char)"},
    {"_Z4statPf", "stat(float*)"},
    {"_Z6nestedN1WIiE2InIfEEPNS_IcE2InIdEE", "nested(W<int>::In<float>, W<char>::In<double>*)"},
    {"_ZN2ns1sENS_1SENS_1VINS1_IfEEEERKS0_", "ns::s(ns::S, ns::V<ns::V<float> >, ns::S const&)"},
    {"_ZN2ns2goEPi", "ns::go(int*)"},
    {"_ZN2ns2in1tILin3ELb1EEEvPKfPy", "void ns::in::t<-3, true>(float const*, unsigned long long*)"},
    {"_ZN36_GLOBAL__N__544f3553_4_t_cu_ce1f00e74anonEPf", "(anonymous namespace)::anon(float*)"},
    {"_Z3twoIPFviEiEPT_S3_i", "void (**two<void (*)(int), int>(void (**)(int), int))(int)"},
    {"_Z1fPA2_A3_f", "f(float (*) [2][3])"},
    {"_ZN12_GLOBAL__N_13runEPf", "(anonymous namespace)::run(float*)"},
    {"_Z1fIJEEvDpT_", "void f<>()"},
    {"_Z1fRKSt6vectorIiSaIiEE", "f(std::vector<int, std::allocator<int> > const&)"},
    {"_ZZ4mainE1kPi", "main::k(int*)"},
};

static char *demangled(const char *name) {
    lw_text text = {0};
    if (!lw_demangle(&text, name)) lw_text_puts(&text, name);
    return text.at;
}

static void as_recorded(void **state) {
    (void)state;
    for (size_t i = 0; i < LW_COUNT(names); i++) {
        char *name = demangled(names[i].mangled);
        assert_string_equal(name, names[i].name);
        free(name);
        assert_true(lw_name_means(names[i].name, names[i].mangled));
    }
}

static void what_is_meant(void **state) {
    (void)state;
    static const char *const fill[] = {"fill", "fill<float>", "fill< float >", "void fill<float>(float*, float, int)"},
                             *const t[] = {"t", "in", "ns::in::t", "ns::in::t<-3,true>", "t<-3, true>", "ns::t"};
    for (size_t i = 0; i < LW_COUNT(fill); i++) assert_true(lw_name_means(fill[i], "_Z4fillIfEvPT_S0_i"));
    for (size_t i = 0; i < LW_COUNT(t); i++)
        assert_int_equal(lw_name_means(t[i], "_ZN2ns2in1tILin3ELb1EEEvPKfPy"), i != 1 && i != 5);
    assert_false(lw_name_means("fil", "_Z4fillIfEvPT_S0_i"));
    assert_false(lw_name_means("fill<double>", "_Z4fillIfEvPT_S0_i"));
    assert_false(lw_name_means("fill", "fill"));
    assert_false(lw_name_means("", "_Z4fillIfEvPT_S0_i"));
}

/* Names that grow, nest or never end are left as they are, soon. */
static void hostile(void **state) {
    (void)state;
    static char name[1 << 20];
    static const char *const heads[] = {"_Z1f", "_Z1fIiEv", "_ZN", "_Z1fI", "_ZZ", "_Z"},
                             *const parts[] = {"P", "A1_", "F",      "I",   "N", "S_", "T_", "1a",
                                               "J", "Z",   "PS_S0_", "1aI", "L", "K",  "Ul", "99999999"};
    for (size_t h = 0; h < LW_COUNT(heads); h++)
        for (size_t p = 0; p < LW_COUNT(parts); p++) {
            size_t size = strlen(heads[h]), step = strlen(parts[p]);
            memcpy(name, heads[h], size);
            for (; size + step < sizeof name; size += step) memcpy(name + size, parts[p], step);
            name[size] = 0;
            lw_text text = {0};
            lw_demangle(&text, name);
            lw_text_free(&text);
        }
    strcpy(name, "_Z1fP1aIiE"); /* each type twice as long as the one before */
    for (int i = 0; i < 200; i++) strcat(name, "1aIS_S_E");
    lw_text text = {0};
    lw_demangle(&text, name);
    assert_true(text.size < 1 << 17);
    lw_text_free(&text);
}

static uint64_t state_of_random = 1;
static uint32_t below(uint32_t most) {
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state_of_random >> 33) % most;
}

/* One letter is changed, left out or put in. */
static void mutate(char *to, const char *from) {
    static const char letters[] = "0123456789_ESTIPKRNZFAvijmlfdbchstxyJLBDVOUaeo";
    const uint32_t size = (uint32_t)strlen(from), at = 2 + below(size - 2), how = below(3);
    memcpy(to, from, at);
    if (how != 1) to[at] = letters[below(sizeof letters - 1)];
    strcpy(to + at + (how != 1), from + at + (how != 2));
}

/* What is understood is what c++filt says of it. An empty pack in front of other parameters is ", int" there. */
static void as_others_say(void **state) {
    (void)state;
    enum { COUNT = 4000 };
    char command[64], path[] = "/tmp/lw_namesXXXXXX", line[4096];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    static char mutated[COUNT][1024];
    for (int i = 0; i < COUNT; i++) {
        mutate(mutated[i], names[below(LW_COUNT(names))].mangled);
        fprintf(out, "%s\n", mutated[i]);
    }
    fclose(out);
    snprintf(command, sizeof command, "c++filt <%s 2>/dev/null", path);
    FILE *others = popen(command, "r");
    for (int i = 0; i < COUNT && fgets(line, sizeof line, others); i++) {
        char *own = demangled(mutated[i]);
        line[strcspn(line, "\n")] = 0;
        if (strcmp(own, mutated[i]) && !strstr(line, "(, ")) assert_string_equal(own, line);
        free(own);
    }
    pclose(others);
    unlink(path);
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(as_recorded), cmocka_unit_test(what_is_meant),
                                              cmocka_unit_test(hostile), cmocka_unit_test(as_others_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
