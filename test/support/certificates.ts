import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export interface Certificates {
  /** Of an authority that nobody knows, in PEM form. */
  readonly ca: string;
  /** Of a server at that address, signed by that authority. */
  readonly cert: string;
  readonly key: string;
}

/**
 * A certificate authority of one's own and a server's certificate by it (RFC 5280, in the least form that TLS takes).
 *
 * @param address of the server, in IPv4; default 127.0.0.1
 */
export function makeCertificates(address: readonly number[] = [127, 0, 0, 1]): Certificates {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const isAuthority = extension("551d13", true, sequence(der(0x01, Buffer.from([0xff]))));
  const names = sequence(der(0x87, Buffer.from(address)), der(0x82, Buffer.from("localhost")));
  const ca = certificate("sless test authority", authority.publicKey, isAuthority, authority.privateKey);
  const cert = certificate("127.0.0.1", server.publicKey, extension("551d11", false, names), authority.privateKey);
  return { ca, cert, key: server.privateKey.export({ type: "pkcs8", format: "pem" }) as string };
}

const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));

function certificate(subject: string, publicKey: KeyObject, extensions: Buffer, signer: KeyObject): string {
  const toBeSigned = sequence(
    der(0xa0, integer(2)),
    integer(subject.length),
    ECDSA_SHA256,
    commonName("sless test authority"),
    sequence(time("20240101000000Z"), time("21240101000000Z")),
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extensions)),
  );
  const signature = bitString(sign("sha256", toBeSigned, signer));
  const base64 = sequence(toBeSigned, ECDSA_SHA256, signature).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...contents: Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes);
}

function time(text: string): Buffer {
  return der(0x18, Buffer.from(text));
}

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))));
}

function extension(hex: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [der(0x01, Buffer.from([0xff]))] : [];
  return sequence(oid(hex), ...critical, der(0x04, value));
}
