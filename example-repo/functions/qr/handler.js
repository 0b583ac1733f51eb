import qrcode from "qrcode-generator";

/** ?text=... → a QR code as an SVG picture. */
export async function handle({ text }) {
  if (typeof text !== "string" || text === "" || text.length > 1000) {
    return { statusCode: 400, body: { error: "text must have 1 to 1000 characters" } };
  }
  const code = qrcode(0, "M");
  code.addData(text, "Byte");
  code.make();
  return {
    statusCode: 200,
    headers: { "content-type": "image/svg+xml", "cache-control": "public, max-age=86400" },
    body: code.createSvgTag({ cellSize: 8, scalable: true }),
  };
}
