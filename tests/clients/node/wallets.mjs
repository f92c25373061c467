// Wallets in JavaScript: what their libraries sign, and whether they take what we signed. A task is
// read from standard input, its results are printed as JSON.
import bs58 from "bs58";
import { createHash } from "node:crypto";
import nacl from "tweetnacl";
import { getAddress, verifyMessage } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const { keys, payloads = [], checks = [], requests = [] } = JSON.parse(
  await new Promise((resolve) => {
    let text = "";
    process.stdin.on("data", (piece) => (text += piece)).on("end", () => resolve(text));
  }),
);
const account = privateKeyToAccount(keys.evm);
const pair = nacl.sign.keyPair.fromSecretKey(bs58.decode(keys.sol));
const wallets = {
  evm: { address: account.address, sign: (message) => account.signMessage({ message }) },
  sol: {
    address: bs58.encode(pair.publicKey),
    sign: async (text) =>
      Buffer.from(nacl.sign.detached(Buffer.from(text), pair.secretKey)).toString("base64"),
  },
};

const sorted = (value) => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
const base64 = (text) => Buffer.from(text).toString("base64");

async function granted({ chain, ...limits }) {
  const p = sorted({ f: wallets[chain].address, ...limits });
  const text = `zkstash:grant:v1:${base64(JSON.stringify(p))}`;
  const grant = { p, s: await wallets[chain].sign(text), c: chain };
  const code = `zkg1_${Buffer.from(JSON.stringify(grant)).toString("base64url")}`;
  return { text, grant, code };
}

async function accepted({ chain, address, text, signature }) {
  if (chain === "evm") return verifyMessage({ address, message: text, signature });
  const raw = Buffer.from(signature, "base64");
  return nacl.sign.detached.verify(Buffer.from(text), raw, bs58.decode(address));
}

// As the SDK asks: the signed path is what it appends to its base URL.
async function asked({ chain, base, method, path, body, grants, key }) {
  const sent = body === undefined ? "" : JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  if (grants) headers["x-grants"] = base64(JSON.stringify(grants));
  if (key) headers.authorization = `Bearer ${key}`;
  if (chain) {
    const timestamp = Date.now().toString();
    const hash = createHash("sha256").update(sent).digest("hex");
    headers["x-wallet-address"] = wallets[chain].address;
    headers["x-wallet-timestamp"] = timestamp;
    headers["x-wallet-signature"] = await wallets[chain].sign(
      `${method}|${path}|${hash}|${timestamp}`,
    );
  }
  const answer = await fetch(base + path, { method, headers, body: sent || undefined });
  return { status: answer.status, body: await answer.json() };
}

const results = { addresses: {}, checksummed: getAddress(account.address.toLowerCase()) };
for (const [chain, wallet] of Object.entries(wallets)) results.addresses[chain] = wallet.address;
results.grants = await Promise.all(payloads.map(granted));
results.checks = await Promise.all(checks.map(accepted));
results.answers = [];
for (const request of requests) results.answers.push(await asked(request));
console.log(JSON.stringify(results));
