/** `node src/probe.ts <address>`: exits 0 if the address answers 200. For images, which have no curl. */
const [, , address = ''] = process.argv
const answer = await fetch(address, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined)
process.exitCode = answer?.ok ? 0 : 1
