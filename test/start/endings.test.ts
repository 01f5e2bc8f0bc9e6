// deep: servers that are killed, stopped while they start, and reset
/** How a server that a new user started ends, what is left of it, and what runs beside it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../src/platform/lib/process-identity.ts'
import {
  amount,
  brl,
  chat,
  dataDir,
  DEMO_BALANCE,
  end,
  makeDataFolder,
  minus,
  port,
  postmaster,
  prepareStarts,
  readUsage,
  reset,
  root,
  run,
  spawnServer,
  spend,
  start,
  START_MS_MAX,
  startFresh,
} from './new-user.ts'

prepareStarts()

test('beside a running server, a command takes the same .env and names its database, and a second server names the taken port', async () => {
  await startFresh()
  const [stdout, stderr, code] = await run([join(root, 'src/app/cli/main.ts'), 'customer', 'list'])
  assert.equal(code, 0)
  assert.equal(stderr, `sandbox mode, the embedded database in ${join(dataDir, 'postgres')}\n`)
  assert.match(stdout, /demo@example\.com/)

  assert.match((await reset('--yes'))[1], /^reset: a server uses .*\. Stop it first\n$/)

  const second = await run([join(root, 'src/main.ts')])
  assert.deepEqual([second[0], second[2]], ['', 1])
  assert.match(
    second[1],
    new RegExp(`^[^\\n]*port ${port} [^\\n]*: PORT=${port + 1} npm start\\n$`),
  )
})

test('a reset removes all that a server wrote, and no other file, but only if that is confirmed', async () => {
  const first = await startFresh()
  await spend(first)
  await end(first, 'SIGINT')
  const written = await readdir(dataDir)
  assert.match((await reset())[1], /If that is meant: reset --yes\n$/)
  assert.deepEqual(await readdir(dataDir), written)
  assert.equal((await reset('--yes'))[2], 0)
  assert.deepEqual(await readdir(dataDir), ['.env'])
  assert.equal((await reset('--yes'))[0], 'nothing to remove\n')
})

test('after a kill the next start has the key, the balance and every charge', async () => {
  const first = await startFresh()
  const cost = await spend(first)
  assert.equal(await end(first, 'SIGKILL'), 'SIGKILL')

  const second = await start()
  assert.equal(second.secret, first.secret)
  assert.equal(amount(await readUsage(second), 'balance_brl'), minus(DEMO_BALANCE, cost))

  const database = postmaster()
  second.process.kill('SIGKILL')
  process.kill(database, 'SIGKILL')
  await end(second, 'SIGKILL')
  const third = await start()
  assert.equal(amount(await readUsage(third), 'balance_brl'), minus(DEMO_BALANCE, cost))
  const more = await spend(third)
  assert.equal(amount(await readUsage(third), 'balance_brl'), minus(DEMO_BALANCE, cost, more))
  const last = postmaster()
  assert.equal(await end(third, 'SIGINT'), 0)
  assert.equal(isAlive(last), false, 'the killed servers do not count as users of the database')
})

test('Ctrl-C while an answer streams lets it end, charges it, and accepts no more calls', async () => {
  const first = await startFresh()
  const answer = await chat(first, {
    model: 'sandbox-slow',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 40,
  })
  assert.equal(answer.status, 200)
  assert.ok(answer.body)
  const chunks = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = (await chunks.read()).value ?? ''
  const exited = once(first.process, 'exit')
  // npm forwards the Ctrl-C that the terminal has already sent.
  first.process.kill('SIGINT')
  first.process.kill('SIGINT')
  for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
    const isRefused = await fetch(`${first.baseUrl}/healthz`).then(
      () => false,
      () => true,
    )
    if (isRefused) break
    assert.ok(Date.now() < deadline, 'new connections are refused')
  }
  for (let part = await chunks.read(); !part.done; part = await chunks.read()) text += part.value
  assert.ok(text.endsWith('data: [DONE]\n\n'), text.slice(-200))
  assert.match(text, /"finish_reason":"(stop|length)"/)
  assert.deepEqual(await exited, [0, null])

  const second = await start()
  const usage = await readUsage(second)
  const cost = amount(usage, 'cost_billed_brl')
  assert.ok(brl(cost) > 0n)
  assert.equal(amount(text, 'cost_billed_brl'), cost, 'the stream told what was charged')
  assert.match(usage, /"model_id":"sandbox-slow"/)
  assert.match(usage, /"usage_kind":"exact"/)
  assert.equal(amount(usage, 'balance_brl'), minus(DEMO_BALANCE, cost))
})

test('SIGTERM to `npm start` ends the server, and npm with it', async () => {
  await makeDataFolder()
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port) },
    stdio: 'ignore',
  })
  const exited = once(npm, 'exit')
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      () => true,
      () => false,
    )
  for (const deadline = Date.now() + START_MS_MAX; !(await answers()); await sleep(50))
    assert.ok(Date.now() < deadline, 'the server comes up')
  const database = postmaster()
  npm.kill('SIGTERM')
  await exited
  // A server that did not get the signal would answer on.
  const isLeft = await answers()
  assert.equal(isLeft, false)
  assert.equal(isAlive(database), false, 'the database is stopped before npm ends')
})

test('Ctrl-C during the start leaves nothing running', async () => {
  const first = await startFresh()
  await end(first, 'SIGINT')
  const child = spawnServer()
  const exited = once(child, 'exit')
  // Its database runs, and may already answer.
  const database = await untilPostmaster()
  child.kill('SIGINT')
  await exited
  const isLeft = isAlive(database)
  if (isLeft) process.kill(database, 'SIGQUIT')
  while (isAlive(database)) await sleep(20)
  assert.equal(isLeft, false, 'the database that was starting is stopped')
})

async function untilPostmaster(): Promise<number> {
  for (const deadline = Date.now() + START_MS_MAX; ; await sleep(2)) {
    try {
      if (postmaster() > 0) return postmaster()
    } catch {
      assert.ok(Date.now() < deadline, 'the database starts')
    }
  }
}
