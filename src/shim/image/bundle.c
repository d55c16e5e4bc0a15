/* bundle.c: PTX texts as one piece of bytes, which has no addresses, so that a program may keep it in a file: what
 * linking gives. The texts are checked when the bundle is made, and made a module of when it is loaded. */
#include "shim/image/image.h"

/* With the number of the layout behind it, as programs keep images. Then words with the number of texts and of
 * registers (lw_code_image), and of each text the name and the text, both with a word of their size in front and a NUL
 * behind. */
static const char MAGIC[] = "\x7fLanewise linked PTX 2\n";

bool lw_bundle_is(lw_bytes bytes) { return lw_image_begins(bytes, MAGIC, sizeof MAGIC); }

void lw_bundle_begin(lw_text *bundle, uint32_t count, uint32_t registers) {
    lw_text_add(bundle, MAGIC, sizeof MAGIC);
    lw_text_add(bundle, (const char *)&count, sizeof count);
    lw_text_add(bundle, (const char *)&registers, sizeof registers);
}

static void put(lw_text *bundle, lw_bytes text) {
    const uint32_t word = (uint32_t)text.size;
    lw_text_add(bundle, (const char *)&word, sizeof word);
    lw_text_add(bundle, text.at, text.size);
    lw_text_add(bundle, "", 1);
}

void lw_bundle_add(lw_text *bundle, const char *name, lw_bytes text) {
    put(bundle, (lw_bytes){name, strlen(name)});
    put(bundle, text);
}

static bool take(lw_bytes *rest, size_t size, lw_bytes *taken) {
    if (rest->size < size) return false;
    *taken = (lw_bytes){rest->at, size};
    rest->at += size;
    if (rest->size != LW_IMAGE_UNBOUNDED) rest->size -= size;
    return true;
}

static bool take_word(lw_bytes *rest, uint32_t *word) {
    lw_bytes taken;
    if (!take(rest, sizeof *word, &taken)) return false;
    memcpy(word, taken.at, sizeof *word);
    return true;
}

static bool take_text(lw_bytes *rest, lw_bytes *text) {
    uint32_t size;
    if (!take_word(rest, &size) || !take(rest, (size_t)size + 1, text)) return false;
    text->size = size;
    return !text->at[size];
}

lw_image_result lw_bundle_read(lw_code_image *image, const char *name, lw_bytes bytes) {
    lw_bytes rest = bytes, magic, text_name, text;
    uint32_t count, registers;
    bool whole = take(&rest, sizeof MAGIC, &magic) && take_word(&rest, &count) && take_word(&rest, &registers) && count;
    if (whole && registers && (!image->registers || registers < image->registers)) image->registers = registers;
    for (uint32_t i = 0; whole && i < count; i++) {
        whole = take_text(&rest, &text_name) && take_text(&rest, &text);
        lw_image_result result = whole ? lw_image_add(image, text_name.at, text) : LW_IMAGE_OK;
        if (result) return result;
    }
    whole &= bytes.size == LW_IMAGE_UNBOUNDED || !rest.size;
    return whole ? LW_IMAGE_OK : lw_image_damaged(image, name, "it does not end where it should");
}
