/* resolve_gate.c: is a directive part of the module's PTX version and target? */
#include "front/ptx/resolve.h"

#define V(major, minor) (10 * (major) + (minor))
#define SM(number)      (number)

static const struct gate {
    const char *shown;
    uint16_t isa, sm;
} gates[] = {
#define DIRECTIVE(name, shown, isa, sm) {shown, isa, sm},
#include "ptx/directives.def"
};

void lw_gate_check(lw_resolver *r, lw_gate_id id, lw_place place) {
    const struct gate *gate = &gates[id];
    unsigned version = r->module->version, target = r->module->target;
    if (version < gate->isa)
        lw_diag_add(r->diags, LW_D_needs_version, place, gate->shown, gate->isa / 10u, gate->isa % 10u, version / 10,
                    version % 10);
    else if (target < gate->sm)
        lw_diag_add(r->diags, LW_D_needs_target, place, gate->shown, (unsigned)gate->sm, target);
}

void lw_gate_directive(lw_resolver *r, const lw_directive *d) {
    static const uint8_t tunings[LW_TUNING_count] = {
        [LW_TUNING_none] = LW_GATE_pragma,
#define TUNING(name, least, most, ...) [LW_TUNING_##name] = LW_GATE_##name,
#include "ptx/tunings.def"
    };
    lw_gate_check(r, (lw_gate_id)tunings[d->tuning], d->place);
}
