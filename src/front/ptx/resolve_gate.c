/* resolve_gate.c: is a directive part of the module's PTX version and target? */
#include "front/ptx/resolve.h"

#define V(major, minor) (10 * (major) + (minor))
#define SM(number)      (number)

static const struct gate {
    const char *name, *shown;
    uint16_t isa, sm;
} gates[] = {
#define DIRECTIVE(name, shown, isa, sm) {#name, shown, isa, sm},
#include "ptx/directives.def"
};

void lw_gate_check(lw_resolver *r, lw_gate_id id, lw_place place) {
    const struct gate *gate = &gates[id];
    unsigned version = r->module->version, target = r->module->target;
    if (version < gate->isa)
        lw_diag_add(r->diags, LW_D_needs_version, place, gate->shown, gate->isa / 10u, gate->isa % 10u,
                    version / 10, version % 10);
    else if (target < gate->sm)
        lw_diag_add(r->diags, LW_D_needs_target, place, gate->shown, (unsigned)gate->sm, target);
}

/* The directives of functions go by their names. */
void lw_gate_directive(lw_resolver *r, const lw_directive *d) {
    for (uint32_t i = 0; i < LW_COUNT(gates); i++)
        if (!strcmp(gates[i].name, d->name->text)) {
            lw_gate_check(r, (lw_gate_id)i, d->place);
            return;
        }
}
