/** The words of a text of any script, in order. */
exports.wordsOf = (text) => text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];

/** The text of an event: the body itself, or its field `text`. */
exports.textOf = (event) => (typeof event === "string" ? event : String(event?.text ?? ""));
