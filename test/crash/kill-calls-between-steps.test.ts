// deep: processes that are killed
/**
 * kill -9 of a node between any two steps of calls in each format: statements, requests to the upstream, answers, and
 * each write of a stream. The node that starts on its disk finishes the work.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { effort } from '../harness/effort.ts'
import { askLoadCall, type LoadCall, type Received } from '../harness/load-clients.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { assertCallsAgree, openStoringAccount, RESOLVED_WITHIN_MS } from './assert-calls-agree.ts'
import { CALLS, startCountingUpstream } from './counting-upstream.ts'
import { momentAt } from './kill-between-steps.ts'

/** Each format, plain and streamed, native and translated, with searches, and without reported usage. */
const EACH: readonly { readonly call: LoadCall; readonly isStream: boolean }[] = CALLS.filter(
  ({ model }) => !model.endsWith('-long'),
).flatMap((call) => [false, true].map((isStream) => ({ call, isStream })))
/** The calls have some 500 moments. The ordinary run kills three times, beginning at a random one. */
const stride = effort({ ordinary: 170, full: 1 })
/** Calls have more steps than this by far: a statement for the hold, one for the charge, the upstream and the answer. */
const STEPS_MIN = EACH.length * 4

test(
  'killed between any two steps of calls in each format: each complete answer is charged once, no call is charged twice, no hold stays open',
  { timeout: effort({ ordinary: 600_000, full: 7_200_000 }) },
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'catraca-kill-calls-'))
    const database = await createTestDatabase()
    const upstream = await startCountingUpstream(folder)
    const { db, databaseUrl } = database
    const { secret, customerId } = await openStoringAccount(db)
    const received: Received[] = []
    const killedAt: string[] = []
    const start = (env: Record<string, string>) =>
      startTestNode({
        databaseUrl,
        dataDir: folder,
        env: { ...upstream.env, ...env },
        preload: 'test/crash/kill-at-step.ts',
        keepsOutput: true,
      })
    /** All calls, or those until the node is killed. */
    async function callAll(node: TestNode): Promise<void> {
      for (const { call, isStream } of EACH) {
        received.push(await askLoadCall(node.baseUrl, secret, call, isStream))
        if (node.process.exitCode !== null || node.process.signalCode !== null) return
      }
      await node.stop()
    }
    try {
      for (let place = Math.floor(Math.random() * stride); ; place += stride) {
        const { step, at } = momentAt(place)
        const node = await start({ KILL_AT: at, KILL_AFTER_SIGNAL: '1' })
        await untilNoHoldIsOpen(database, RESOLVED_WITHIN_MS)
        node.process.kill('SIGUSR2')
        await callAll(node)
        if (node.process.signalCode !== 'SIGKILL') {
          const [, steps] = /^steps (\d+)$/.exec(node.output.at(-1) ?? '') ?? []
          assert.ok(Number(steps) >= STEPS_MIN, `${steps} steps`)
          // A step may have no such moment: the last message gets no answer.
          if (Number(steps) < step) break
        }
        killedAt.push(`${at} ${node.output.at(-1)}`)
      }
      await untilNoHoldIsOpen(database, RESOLVED_WITHIN_MS)
      const { whole, charged, events } = await assertCallsAgree(db, {
        customerId,
        received,
        upstreamCalls: await upstream.calls(),
      })
      assert.ok(whole.length >= EACH.length, 'the last run was not interrupted')
      context.diagnostic(
        `${killedAt.length} kills, ${received.length} asked, ${whole.length} whole, ` +
          `${charged.length} charged, ${events.length - charged.length} released`,
      )
    } catch (error) {
      throw new Error(`killed at\n${killedAt.join('\n')}`, { cause: error })
    } finally {
      upstream.stop()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    }
  },
)
