/** The services that `doctor` calls: a mail server, a payment processor and an upstream, well and ill. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { probeProcessor, probeServices } from '../../src/app/cli/probe-services.ts'
import { loadConfig } from '../../src/app/config/config.ts'
import type { Processor } from '../../src/money/payments/processor.ts'
import { writeConfigFile } from '../harness/config-file.ts'
import { findFreePort } from '../harness/find-free-port.ts'
import { LIVE_ENVIRONMENT } from '../harness/live-environment.ts'
import { answer, startMailServer } from '../harness/mail-server.ts'
import { startScriptedUpstream, status } from '../harness/scripted-upstream.ts'

const MODEL = 'm'
const upstream = await startScriptedUpstream()
const file = await writeConfigFile({
  upstreams: [{ id: 'up', kind: 'openai-compatible', base_url: upstream.baseUrl }],
  models: [
    {
      id: MODEL,
      category: 'llm',
      prices: { input: '1', output: '2' },
      routes: [{ upstream: 'up', model: MODEL }],
    },
  ],
})
after(async () => {
  await upstream.close()
  await file.remove()
})

async function findingsOf(smtpUrl: string, callsUpstreams = false) {
  const env = { ...LIVE_ENVIRONMENT, SMTP_URL: smtpUrl, CATRACA_CONFIG: file.path }
  const config = loadConfig(env, import.meta.dirname)
  return (await probeServices(config, { callsUpstreams })).map(
    ({ level, text }) => `${level} ${text}`,
  )
}

test('the mail server is greeted and signed in to, and gets no mail; its fault names the remedy', async () => {
  const wrong = 'outra senha'
  const server = await startMailServer({
    authOptional: false,
    onAuth: ({ password }, _session, callback) =>
      password === 'senha' ? callback(null, { user: 'ana' }) : callback(answer(535, '5.7.8 no')),
  })
  const url = (password: string) =>
    `smtp://ana:${encodeURIComponent(password)}@127.0.0.1:${server.port}`
  assert.match((await findingsOf(url('senha')))[0] ?? '', /^ok the mail server 127\.0\.0\.1/)
  const [refused = ''] = await findingsOf(url(wrong))
  assert.match(refused, /^fault the mail server .*: mail_server_not_authorized\. Mend SMTP_URL/)
  assert.ok(!refused.includes(wrong))
  assert.deepEqual(server.taken, [])
  await server.close()
  const gone = await findingsOf(`smtp://127.0.0.1:${await findFreePort()}`)
  assert.match(gone[0] ?? '', /^fault .*mail_server_unreachable/)
})

test('keys of upstreams are tried by consent only, with one small call each', async () => {
  const smtp = `smtp://127.0.0.1:${await findFreePort()}`
  const [, untried] = await findingsOf(smtp)
  assert.match(untried ?? '', /^ok the keys of up were not tried/)
  assert.equal(upstream.callsOf(MODEL).length, 0)
  const [, tried] = await findingsOf(smtp, true)
  assert.equal(tried, `ok upstream up answers with our key (${MODEL})`)
  assert.equal(upstream.callsOf(MODEL).length, 1)
  upstream.play(MODEL, status(401), status(429), status(500))
  const ill = []
  for (let call = 0; call < 3; call++) ill.push((await findingsOf(smtp, true))[1])
  assert.match(ill[0] ?? '', /^fault .*credentials_refused \(401\).*set another one/)
  assert.match(ill[1] ?? '', /^warn .*rate_limited \(429\)/)
  assert.match(ill[2] ?? '', /^fault .*server_error/)
})

test('the payment processor is read, and its fault says what nobody can do meanwhile', async () => {
  const answering = (outcome: Awaited<ReturnType<Processor['listPayments']>>) =>
    probeProcessor({
      id: 'asaas',
      listPayments: () => Promise.resolve(outcome),
      close: () => Promise.resolve(),
    } as unknown as Processor)
  const well = await answering({ kind: 'payments', payments: [], nextPage: undefined })
  assert.equal(well.level, 'ok')
  const ill = await answering({ kind: 'unavailable', mayHaveHappened: false, detail: 'status 401' })
  assert.equal(ill.level, 'fault')
  assert.match(ill.text, /status 401\. Check ASAAS_API_KEY.*nobody can top up/)
})
