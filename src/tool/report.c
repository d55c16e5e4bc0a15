/* report.c: diagnostics as JSON and as SARIF 2.1.0. Both count lines and columns from 1, columns in characters, as the
 * text does. */
#include <ctype.h>
#include <stdlib.h>

#include "tool/report.h"

/* ---- JSON with failures collected ---------------------------------------------------------------------- */

void lw_json_set(json_t *object, const char *key, json_t *value, bool *failed) {
    if (json_object_set_new(object, key, value)) *failed = true;
}

static void append(json_t *array, json_t *value, bool *failed) {
    if (json_array_append_new(array, value)) *failed = true;
}

json_t *lw_json_text(const char *text) {
    json_t *string = json_string(text);
    if (string) return string;
    lw_text clean = {0};
    for (const char *p = text; *p; p++)
        (unsigned char)*p < 0x80 ? lw_text_add(&clean, p, 1) : lw_text_puts(&clean, "\xef\xbf\xbd");
    string = clean.at && !clean.failed ? json_string(clean.at) : NULL;
    lw_text_free(&clean);
    return string;
}

static int add_piece(const char *piece, size_t size, void *text) {
    lw_text_add(text, piece, size);
    return 0;
}

/* Not json_dumps: that takes no notice where it gets no memory for a key. */
bool lw_json_print(lw_text *out, const json_t *value, size_t flags) {
    return !json_dump_callback(value, add_piece, out, flags) && out->size && !out->failed;
}

static json_t *text_object(const char *text, bool *failed) { /* SARIF wraps every text that people read */
    json_t *object = json_object();
    lw_json_set(object, "text", lw_json_text(text), failed);
    return object;
}

static const char *const levels[] = {[LW_NOTE] = "note", [LW_WARNING] = "warning", [LW_ERROR] = "error"};

static void print_id(char id[8], lw_diag_id number) { snprintf(id, 8, "LW%04u", lw_diag_rows[number].number); }

/* Notes explain the message before them; only the one that says that there is more stands alone. */
static bool belongs_to_last(const lw_diag *diag, const json_t *list, const json_t *first) {
    return !lw_diag_is_alone(diag) && json_array_size(list) > json_array_size(first);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

static json_t *json_of(lw_report *r, lw_source *source, const lw_diag *diag) {
    char id[8];
    uint32_t line, column, end_line, end_column;
    json_t *object = json_object();
    print_id(id, diag->id);
    lw_source_find(source, diag->place.at, &line, &column);
    lw_source_find(source, diag->place.at + diag->place.size, &end_line, &end_column);
    lw_json_set(object, "id", json_string(id), &r->failed);
    lw_json_set(object, "severity", json_string(levels[diag->severity]), &r->failed);
    lw_json_set(object, "message", lw_json_text(diag->message), &r->failed);
    lw_json_set(object, "fix", diag->fix ? lw_json_text(diag->fix) : json_null(), &r->failed);
    const lw_source_part *part = lw_source_part_of(source, diag->place.at);
    if (source->part_count > 1) lw_json_set(object, "file", lw_json_text(part->name), &r->failed);
    lw_json_set(object, "line", json_integer(line), &r->failed);
    lw_json_set(object, "column", json_integer(column), &r->failed);
    lw_json_set(object, "end_line", json_integer(end_line), &r->failed);
    lw_json_set(object, "end_column", json_integer(end_column), &r->failed);
    lw_json_set(object, "offset", json_integer(diag->place.at - part->at), &r->failed);
    lw_json_set(object, "size", json_integer(diag->place.size), &r->failed);
    return object;
}

static void json_file(lw_report *r, lw_tool_source *in, json_t *cost) {
    json_t *file = json_object(), *list = json_array(), *none = json_array();
    bool left_out = false; /* a note goes where its message goes */
    for (const lw_diag *diag = in->diags.first; diag; diag = diag->next) {
        if (diag->severity != LW_NOTE) left_out = diag->severity == LW_WARNING && !r->warnings;
        if (left_out) continue;
        json_t *object = json_of(r, &in->source, diag);
        if (belongs_to_last(diag, list, none)) {
            append(json_object_get(json_array_get(list, json_array_size(list) - 1), "notes"), object, &r->failed);
        } else {
            lw_json_set(object, "notes", json_array(), &r->failed);
            append(list, object, &r->failed);
        }
    }
    json_decref(none);
    lw_json_set(file, "file", lw_json_text(in->source.name), &r->failed);
    lw_json_set(file, "read", json_true(), &r->failed);
    lw_json_set(file, "errors", json_integer(in->diags.errors), &r->failed);
    lw_json_set(file, "warnings", json_integer(in->diags.warnings), &r->failed);
    lw_json_set(file, "diagnostics", list, &r->failed);
    if (cost) lw_json_set(file, "cost", cost, &r->failed);
    append(r->files, file, &r->failed);
}

static json_t *json_document(lw_report *r, uint32_t errors, uint32_t warnings) {
    json_t *all = json_object();
    lw_json_set(all, "version", json_string(lw_version()), &r->failed);
    lw_json_set(all, "errors", json_integer(errors), &r->failed);
    lw_json_set(all, "warnings", json_integer(warnings), &r->failed);
    lw_json_set(all, "files", json_incref(r->files), &r->failed);
    return all;
}

/* ---- SARIF (OASIS, version 2.1.0) ------------------------------------------------------------------------ */

/* A path as a URI reference: absolute ones with a scheme, others relative. */
static json_t *uri_of(const char *path) {
    lw_text uri = {0};
    if (*path == '/') lw_text_puts(&uri, "file://");
    for (const char *p = path; *p; p++) {
        if (isalnum((unsigned char)*p) || strchr("-._~/", *p)) lw_text_add(&uri, p, 1);
        else lw_text_printf(&uri, "%%%02X", (unsigned char)*p);
    }
    json_t *string = json_string(uri.at ? uri.at : "");
    lw_text_free(&uri);
    return string;
}

/* The index of a diagnostic's rule, which it adds where it is new. */
static size_t rule_of(lw_report *r, lw_diag_id number) {
    char id[8];
    print_id(id, number);
    size_t count = json_array_size(r->rules);
    for (size_t i = 0; i < count; i++) {
        const char *known = json_string_value(json_object_get(json_array_get(r->rules, i), "id"));
        if (known && !strcmp(known, id)) return i;
    }
    const lw_diag_row *row = &lw_diag_rows[number];
    json_t *rule = json_object(), *level = json_object();
    lw_json_set(level, "level", json_string(levels[row->severity]), &r->failed);
    lw_json_set(rule, "id", json_string(id), &r->failed);
    lw_json_set(rule, "name", json_string(row->name), &r->failed);
    lw_json_set(rule, "fullDescription", text_object(row->explanation, &r->failed), &r->failed);
    lw_json_set(rule, "defaultConfiguration", level, &r->failed);
    append(r->rules, rule, &r->failed);
    return count;
}

static json_t *location_of(lw_report *r, lw_source *source, const lw_diag *diag) {
    uint32_t line, column, end_line, end_column;
    json_t *location = json_object(), *physical = json_object(), *artifact = json_object(), *region = json_object();
    lw_source_find(source, diag->place.at, &line, &column);
    lw_source_find(source, diag->place.at + diag->place.size, &end_line, &end_column);
    const lw_source_part *part = lw_source_part_of(source, diag->place.at);
    const size_t behind = (size_t)(source->parts + source->part_count - part); /* the texts' are the last artifacts */
    lw_json_set(region, "startLine", json_integer(line), &r->failed);
    lw_json_set(region, "startColumn", json_integer(column), &r->failed);
    lw_json_set(region, "endLine", json_integer(end_line), &r->failed);
    lw_json_set(region, "endColumn", json_integer(end_column), &r->failed);
    lw_json_set(region, "byteOffset", json_integer(diag->place.at - part->at), &r->failed);
    lw_json_set(region, "byteLength", json_integer(diag->place.size), &r->failed);
    lw_json_set(artifact, "uri", uri_of(part->name), &r->failed);
    lw_json_set(artifact, "index", json_integer((json_int_t)(json_array_size(r->artifacts) - behind)), &r->failed);
    lw_json_set(physical, "artifactLocation", artifact, &r->failed);
    lw_json_set(physical, "region", region, &r->failed);
    lw_json_set(location, "physicalLocation", physical, &r->failed);
    return location;
}

static void sarif_note(lw_report *r, lw_source *source, const lw_diag *diag) {
    json_t *result = json_array_get(r->results, json_array_size(r->results) - 1),
           *location = location_of(r, source, diag);
    lw_json_set(location, "message", text_object(diag->message, &r->failed), &r->failed);
    json_t *related = json_object_get(result, "relatedLocations");
    if (!related) {
        related = json_array();
        lw_json_set(result, "relatedLocations", related, &r->failed);
    }
    append(related, location, &r->failed);
}

static void sarif_result(lw_report *r, lw_source *source, const lw_diag *diag) {
    char id[8];
    json_t *result = json_object(), *locations = json_array();
    lw_text message = {0};
    print_id(id, diag->id);
    lw_text_printf(&message, "%s%s%s", diag->message, diag->fix ? "\n" : "", diag->fix ? diag->fix : "");
    lw_json_set(result, "ruleId", json_string(id), &r->failed);
    lw_json_set(result, "ruleIndex", json_integer((json_int_t)rule_of(r, diag->id)), &r->failed);
    lw_json_set(result, "level", json_string(levels[diag->severity]), &r->failed);
    lw_json_set(result, "message", text_object(message.at ? message.at : "", &r->failed), &r->failed);
    append(locations, location_of(r, source, diag), &r->failed);
    lw_json_set(result, "locations", locations, &r->failed);
    append(r->results, result, &r->failed);
    lw_text_free(&message);
}

static void sarif_artifact(lw_report *r, const char *name) {
    json_t *artifact = json_object(), *location = json_object();
    lw_json_set(location, "uri", uri_of(name), &r->failed);
    lw_json_set(artifact, "location", location, &r->failed);
    append(r->artifacts, artifact, &r->failed);
}

static void sarif_file(lw_report *r, lw_tool_source *in) {
    json_t *before = json_copy(r->results);
    for (uint32_t i = 0; i < in->source.part_count; i++) sarif_artifact(r, in->source.parts[i].name);
    bool left_out = false; /* a note goes where its message goes */
    for (const lw_diag *diag = in->diags.first; diag; diag = diag->next) {
        if (diag->severity != LW_NOTE) left_out = diag->severity == LW_WARNING && !r->warnings;
        if (left_out) continue;
        if (belongs_to_last(diag, r->results, before)) sarif_note(r, &in->source, diag);
        else sarif_result(r, &in->source, diag);
    }
    json_decref(before);
}

/* The run itself went well unless a file could not be read; then notifications say which. */
static json_t *sarif_invocations(lw_report *r, int code) {
    json_t *invocation = json_object(), *list = json_array();
    lw_json_set(invocation, "executionSuccessful", json_boolean(!json_array_size(r->unread)), &r->failed);
    lw_json_set(invocation, "exitCode", json_integer(code), &r->failed);
    lw_json_set(invocation, "toolExecutionNotifications", json_incref(r->unread), &r->failed);
    append(list, invocation, &r->failed);
    return list;
}

static json_t *sarif_document(lw_report *r, int code) {
    json_t *all = json_object(), *runs = json_array(), *run = json_object(), *tool = json_object(),
           *driver = json_object();
    lw_json_set(driver, "name", json_string("lanewise"), &r->failed);
    lw_json_set(driver, "version", json_string(lw_version()), &r->failed);
    lw_json_set(driver, "rules", json_incref(r->rules), &r->failed);
    lw_json_set(tool, "driver", driver, &r->failed);
    lw_json_set(run, "tool", tool, &r->failed);
    lw_json_set(run, "columnKind", json_string("unicodeCodePoints"), &r->failed);
    lw_json_set(run, "invocations", sarif_invocations(r, code), &r->failed);
    lw_json_set(run, "artifacts", json_incref(r->artifacts), &r->failed);
    lw_json_set(run, "results", json_incref(r->results), &r->failed);
    append(runs, run, &r->failed);
    lw_json_set(
        all, "$schema",
        json_string("https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"),
        &r->failed);
    lw_json_set(all, "version", json_string("2.1.0"), &r->failed);
    lw_json_set(all, "runs", runs, &r->failed);
    return all;
}

/* ---- The report ----------------------------------------------------------------------------------------- */

void lw_report_begin(lw_report *r, bool sarif, bool warnings) {
    *r = (lw_report){.sarif = sarif,
                     .warnings = warnings,
                     .files = json_array(),
                     .results = json_array(),
                     .rules = json_array(),
                     .artifacts = json_array(),
                     .unread = json_array()};
}

void lw_report_file(lw_report *r, lw_tool_source *in, json_t *cost) {
    if (r->sarif) sarif_file(r, in);
    else json_file(r, in, cost);
}

void lw_report_unread(lw_report *r, const char *path) {
    json_t *object = json_object();
    if (r->sarif) {
        lw_text message = {0};
        lw_text_say(&message, "'%s' could not be checked", path);
        lw_json_set(object, "level", json_string("error"), &r->failed);
        lw_json_set(object, "message", text_object(message.at ? message.at : "", &r->failed), &r->failed);
        append(r->unread, object, &r->failed);
        lw_text_free(&message);
        return;
    }
    lw_json_set(object, "file", lw_json_text(path), &r->failed);
    lw_json_set(object, "read", json_false(), &r->failed);
    lw_json_set(object, "errors", json_integer(0), &r->failed);
    lw_json_set(object, "warnings", json_integer(0), &r->failed);
    lw_json_set(object, "diagnostics", json_array(), &r->failed);
    append(r->files, object, &r->failed);
}

int lw_report_end(lw_report *r, uint32_t errors, uint32_t warnings, int code) {
    json_t *all = r->sarif ? sarif_document(r, code) : json_document(r, errors, warnings);
    lw_text text = {0};
    if (!r->failed && all && lw_json_print(&text, all, JSON_INDENT(2))) {
        puts(text.at);
    } else {
        lw_tool_error(LW_D_no_memory, "the report");
        code = LW_EXIT_MACHINE;
    }
    lw_text_free(&text);
    json_decref(all);
    json_t *const parts[] = {r->files, r->results, r->rules, r->artifacts, r->unread};
    for (size_t i = 0; i < LW_COUNT(parts); i++) json_decref(parts[i]);
    return code;
}
