/** The mails of sandbox mode, on every node, for its operator only. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, test } from 'node:test'
import Fastify from 'fastify'
import {
  createSandboxMailer,
  SANDBOX_MAILS_MAX,
} from '../../src/deliveries/email/sandbox-mailbox.ts'
import type { HttpParts } from '../../src/http/rest/parts.ts'
import { addRoutes } from '../../src/http/rest/route.ts'
import { mailboxRoutes } from '../../src/http/mails/mailbox-routes.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { BY_OPERATOR } from '../harness/ask.ts'
import { startLocalNode } from '../harness/local-node.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { db } = gateway.database
const mailer = createSandboxMailer(db)

const HOSTILE = `<script>alert(1)</script>"'<iframe srcdoc="x">`

function mail(subject: string) {
  return {
    id: createId(),
    customerId: gateway.customerId,
    from: { name: '', address: 'a@b.co' },
    to: 'Leitora@example.com',
    subject,
    text: `Texto: ${subject}`,
    html: `<!doctype html><p>HTML de ${subject.length}</p><script>alert(1)</script>`,
    listUnsubscribe: '<mailto:a@b.co>',
  }
}

interface Answer {
  status: number
  text: string
  policy: string
  type: string
}

function get(
  path: string,
  headers: Record<string, string> = {},
  port = gateway.node.port,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(
      { host: '127.0.0.1', port, path, headers: { ...BY_OPERATOR.headers, ...headers } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text,
            policy: String(response.headers['content-security-policy']),
            type: String(response.headers['content-type']),
          }),
        )
      },
    )
      .on('error', reject)
      .end()
  })
}

test('the mailbox shows the newest mails first, each with its text and its HTML in a sandboxed frame', async () => {
  const [older, newer] = [mail('Mais antigo'), mail(HOSTILE)]
  await mailer.deliver(older)
  await mailer.deliver(newer)
  const list = await get('/mailbox')
  assert.equal(list.status, 200)
  assert.match(list.type, /^text\/html/)
  assert.match(list.policy, /^default-src 'none'/)
  assert.ok(list.text.indexOf(newer.id) < list.text.indexOf(older.id))
  assert.match(list.text, /leitora@example\.com/)
  const page = await get(`/mailbox/${newer.id}`)
  for (const { text } of [list, page]) {
    assert.doesNotMatch(text, /<script|srcdoc="x"/)
    assert.match(text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/)
  }
  assert.match(
    page.text,
    new RegExp(`<iframe title="[^"]+" sandbox src="/mailbox/${newer.id}/html">`),
  )
  assert.match(page.text, /&lt;mailto:a@b\.co&gt;/)
  const html = await get(`/mailbox/${newer.id}/html`)
  assert.equal(html.text, newer.html)
  assert.match(html.policy, /^sandbox; default-src 'none'/)
  assert.doesNotMatch(html.policy, /script-src|allow-/)
})

test('a mail that is delivered twice is shown once', async () => {
  const twice = mail('Duas vezes')
  await mailer.deliver(twice)
  await mailer.deliver(twice)
  const { text } = await get('/mailbox')
  assert.equal(text.split('Duas vezes').length, 2)
})

test('an unknown mail is a 404', async () => {
  for (const id of [createId(), 'x', '..%2f', '%00'])
    for (const path of [`/mailbox/${id}`, `/mailbox/${id}/html`])
      assert.equal((await get(path)).status, 404, path)
})

test('the mailbox and the metrics answer whoever has the token, and no header proves this machine', async () => {
  const { id } = mail('Segredo')
  const node = await startLocalNode({
    databaseUrl: gateway.database.databaseUrl,
    env: { METRICS_TOKEN: '' },
  })
  try {
    for (const { port } of [gateway.node, node])
      for (const path of ['/mailbox', `/mailbox/${id}`, `/mailbox/${id}/html`, '/metrics'])
        for (const headers of [
          {},
          { host: 'localhost' },
          { host: `127.0.0.1:${port}` },
          { host: '[::1]:8080' },
          { host: 'localhost', 'x-forwarded-for': '127.0.0.1' },
          { host: 'localhost', authorization: 'Bearer undefined' },
        ] as Record<string, string>[])
          assert.equal(
            (await get(path, { authorization: 'x', ...headers }, port)).status,
            403,
            `${path} ${JSON.stringify(headers)}`,
          )
  } finally {
    await node.stop()
    await node.remove()
  }
})

test('a browser that opens the address with the token may see the mails from then on', async () => {
  const { origin } = new URL(gateway.node.baseUrl)
  const wrong = await fetch(`${origin}/mailbox?token=fichas`, { redirect: 'manual' })
  assert.deepEqual([wrong.status, wrong.headers.getSetCookie()], [403, []])
  const opened = await fetch(`${origin}/mailbox?token=ficha`, { redirect: 'manual' })
  assert.deepEqual([opened.status, opened.headers.get('location')], [303, '/mailbox'])
  const [cookie = ''] = opened.headers.getSetCookie()[0]?.split(';') ?? []
  assert.equal((await get('/mailbox', { authorization: 'x', cookie })).status, 200)
})

test('every node shows the same mails, and requires the token if one is set', async () => {
  const shown = mail('Em todo lugar')
  await mailer.deliver(shown)
  const node = await startLocalNode({
    databaseUrl: gateway.database.databaseUrl,
    env: { METRICS_TOKEN: 'ficha' },
  })
  try {
    assert.equal((await get('/mailbox', { authorization: '' }, node.port)).status, 403)
    for (const wrong of ['Bearer fichas', 'ficha', 'Bearer '])
      assert.equal((await get('/mailbox', { authorization: wrong }, node.port)).status, 403)
    const list = await get('/mailbox', { authorization: 'Bearer ficha' }, node.port)
    assert.ok(list.text.includes(shown.id))
  } finally {
    await node.stop()
    await node.remove()
  }
})

test('only the newest mails are kept', async () => {
  const first = mail('O primeiro')
  await mailer.deliver(first)
  for (let count = 0; count < SANDBOX_MAILS_MAX; count++) await mailer.deliver(mail(`n${count}`))
  assert.equal((await get(`/mailbox/${first.id}`)).status, 404)
  const { text } = await get('/mailbox')
  assert.equal(text.split('<li>').length - 1, SANDBOX_MAILS_MAX)
})

test('live mode has no mailbox', async () => {
  const server = Fastify()
  const deps = { db } as unknown as HttpParts
  addRoutes(server, mailboxRoutes({ mode: 'live' }), (route) => route.handlersOf(deps))
  assert.equal((await server.inject('/mailbox')).statusCode, 404)
  await server.close()
})
