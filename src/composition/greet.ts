import type { Log } from '../lib/log.ts'
import type { Config } from './config.ts'
import type { App } from './create-app.ts'
import { ensureDemo } from './ensure-demo.ts'

/** In sandbox mode, prints the demo key and a first request to copy and paste. */
export async function greet(
  { mode, dataDir, upstreams, upstreamsLeftOut }: Config,
  { db }: App,
  address: string,
  log: Log,
): Promise<void> {
  log.info('listening', { address, mode })
  if (mode === 'live') return
  const real = upstreams.map(({ id }) => id)
  if (real.length > 0) log.warn('sandbox_calls_real_providers', { upstreams: real })
  const secret = await ensureDemo(db, dataDir).catch((error: unknown) => {
    // The server is already listening: a failure here stops no call.
    log.warn('demo_not_ready', { error })
    return undefined
  })
  if (secret === undefined) return
  process.stdout.write(`
Catraca is up, in sandbox mode: ${providersLine(real, upstreamsLeftOut)}

  address  ${address}/v1
  key      ${secret}
  pages    ${address}/

Try it:

  curl ${address}/v1/chat/completions \\
    -H "Authorization: Bearer ${secret}" \\
    -H "Content-Type: application/json" \\
    -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Olá! Quanto custa esta resposta?"}]}'

  curl ${address}/v1/usage -H "Authorization: Bearer ${secret}"

Or in the browser: sign up at ${address}/ and find the mail at ${address}/mailbox
`)
}

function providersLine(real: readonly string[], leftOut: readonly string[]): string {
  if (real.length > 0)
    return `nobody pays real money, but calls to these providers are real, and they bill YOU: ${real.join(', ')}.`
  const nothing = 'no real provider, no real money.'
  return leftOut.length === 0
    ? nothing
    : `${nothing}\nThe environment has keys of ${leftOut.join(', ')}; SANDBOX_REAL_PROVIDERS=true calls them.`
}
