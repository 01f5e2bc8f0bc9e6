/** The server as a new user starts it: no settings, no database, only the printed commands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAlive } from '../../src/platform/lib/process-identity.ts'
import {
  amount,
  brl,
  DEMO_BALANCE,
  end,
  minus,
  port,
  postmaster,
  prepareStarts,
  readUsage,
  runInShell,
  spend,
  start,
  startFresh,
} from './new-user.ts'

prepareStarts()

test('the first start prints an address, a key and a command that works and is charged exactly', async () => {
  const first = await startFresh({ withCluster: false })
  assert.equal(first.baseUrl, `http://127.0.0.1:${port}/v1`)
  assert.match(first.secret, /^sk-svc-[A-Za-z0-9]{38}$/)
  for (const page of ['', 'mailbox']) {
    const address = first.baseUrl.replace('v1', page)
    assert.ok(first.stdout.includes(` ${address}\n`), address)
    assert.equal((await fetch(address)).headers.get('content-type')?.split(';')[0], 'text/html')
  }
  // The printed address opens the mailbox to this browser; nothing else does, on this machine either.
  const mailbox = /http:\S+\/mailbox\?token=\S+/.exec(first.stdout)?.[0] ?? ''
  const opened = await fetch(mailbox, { redirect: 'manual' })
  const cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  assert.equal(opened.status, 303)
  const at = first.baseUrl.replace('v1', 'mailbox')
  assert.equal((await fetch(at)).status, 403)
  assert.equal((await fetch(at, { headers: { cookie } })).status, 200)
  const [chatCommand, usageCommand] = first.commands
  assert.equal(amount((await runInShell(usageCommand)).body, 'balance_brl'), DEMO_BALANCE)

  const { status, body } = await runInShell(chatCommand)
  assert.equal(status, '200', body)
  const completion = JSON.parse(body) as { model: string; choices: unknown[] }
  assert.equal(completion.model, 'gpt-4o-mini')
  assert.equal(completion.choices.length, 1)
  const cost = amount(body, 'cost_billed_brl')
  assert.ok(brl(cost) > 0n)

  const usage = await runInShell(usageCommand)
  assert.equal(usage.status, '200')
  assert.equal(amount(usage.body, 'balance_brl'), minus(DEMO_BALANCE, cost))
  assert.equal(amount(usage.body, 'total_spent_brl'), cost)
  assert.equal(amount(usage.body, 'total_topped_up_brl'), DEMO_BALANCE)
})

test('Ctrl-C stops the server and its database with code 0, and the next start has the key and the balance', async () => {
  const first = await startFresh()
  const cost = await spend(first)
  const database = postmaster()
  assert.equal(await end(first, 'SIGINT'), 0)
  assert.equal(first.stderr(), '', 'a clean stop reports no failure')
  assert.equal(isAlive(database), false)

  const second = await start()
  assert.equal(second.secret, first.secret)
  assert.equal(amount(await readUsage(second), 'balance_brl'), minus(DEMO_BALANCE, cost))
  assert.equal(
    amount(await readUsage(second), 'total_topped_up_brl'),
    DEMO_BALANCE,
    'the demo money is given once',
  )
  const more = await spend(second)
  assert.equal(amount(await readUsage(second), 'balance_brl'), minus(DEMO_BALANCE, cost, more))
})
