const assert = require("node:assert/strict");
const { test } = require("node:test");
const { wordsOf } = require("./words.js");

test("a word may hold an apostrophe or a hyphen, and any script", () => {
  assert.deepEqual(wordsOf("It's a well-known naïve Привет, 2 times."), [
    "It's",
    "a",
    "well-known",
    "naïve",
    "Привет",
    "2",
    "times",
  ]);
});
