/** Mails about acts of a customer, from the request over HTTP to the mail server. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSmtpMailer } from '../../src/deliveries/email/create-smtp-mailer.ts'
import { SANDBOX_SENDER } from '../../src/deliveries/email/mail-sender.ts'
import { sendDueMails } from '../../src/deliveries/email/send-due-mails.ts'
import { readSmtpUrl } from '../../src/deliveries/email/smtp-url.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { ask } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { decodeQuoted, decodeWords, headerOf, startMailServer } from '../harness/mail-server.ts'
import { restartWithoutWorkers } from '../http/app-without-workers.ts'

const EMAIL = 'bia@example.com'
const gateway = await startGateway()
// The mails go to the server of this test, not to the sandbox's mailbox.
const app = await restartWithoutWorkers(gateway)
const server = await startMailServer()
after(async () => {
  await app.close()
  await server.close()
  await gateway.node.remove()
  await gateway.database.drop()
})
const { db } = gateway.database
await db
  .updateTable('customers')
  .set({ email: EMAIL } as never)
  .where('id', '=', gateway.customerId)
  .execute()

async function call(path: string, method = 'GET', body?: object): Promise<any> {
  const answer = await ask(gateway.node.baseUrl, path, {
    secret: gateway.secret,
    method,
    ...(body && { body }),
  })
  assert.ok(answer.status < 300, answer.text)
  return answer.json
}

/** Subject and text of each mail that the server got. */
async function sendAll(): Promise<{ subject: string; text: string }[]> {
  const smtp = readSmtpUrl(`smtp://127.0.0.1:${server.port}`)
  assert.ok(smtp)
  const mailer = createSmtpMailer(smtp)
  const log = createLog('silent', () => {})
  const before = server.taken.length
  try {
    await sendDueMails(db, { mailer, sender: SANDBOX_SENDER, log })
  } finally {
    mailer.close()
  }
  return server.taken.slice(before).map(({ to, source }) => {
    assert.deepEqual(to, [EMAIL])
    return {
      subject: decodeWords(headerOf(source, 'subject') ?? ''),
      text: decodeQuoted(source),
    }
  })
}

test('a new signing secret is mailed each time, with the address and never the secret', async () => {
  const url = 'https://example.com/ganchos'
  const { id } = await call('/webhooks', 'POST', { url })
  const { signing_secret: secret } = await call(`/webhooks/${id}/rotate-secret`, 'POST')
  await call(`/webhooks/${id}/rotate-secret`, 'POST')
  const mails = await sendAll()
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    Array(2).fill('[modo de teste] Segredo de webhook trocado'),
  )
  for (const { text } of mails) {
    assert.ok(text.includes(url) && text.includes('troque o segredo de novo'))
    assert.ok(!text.includes(secret))
  }
})

test("a copy of the account's data is mailed about once a day, without the data", async () => {
  await call('/me/export')
  await call('/me/export')
  const [mail, ...others] = await sendAll()
  assert.deepEqual(others, [])
  assert.equal(mail?.subject, '[modo de teste] A cópia dos seus dados foi feita')
  assert.match(mail?.text ?? '', /LGPD, art\. 18/)
  await call('/me/export')
  assert.deepEqual(await sendAll(), [])
})
