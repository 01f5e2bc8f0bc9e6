import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../platform/lib/log.ts'
import { createClosing } from './create-closing.ts'

test('parts are closed one after the other, in the reverse order', async () => {
  const log = createLog('silent', () => {})
  const closing = createClosing(log)
  const steps: string[] = []
  const part = (name: string) => ({
    name,
    async close() {
      steps.push(`${name} closes`)
      await sleep(1)
      steps.push(`${name} is closed`)
    },
  })
  assert.equal(closing.add('first', part('first')).name, 'first')
  closing.add('second', part('second'))
  await closing.close()
  assert.deepEqual(steps, ['second closes', 'second is closed', 'first closes', 'first is closed'])
})

test('a part that fails to close, at once or later, is logged by its name and holds up no other', async () => {
  const lines: string[] = []
  const closing = createClosing(createLog('warn', (line) => lines.push(line)))
  let isClosed = false
  closing.add('kept', { close: () => (isClosed = true) })
  closing.add('throwing', {
    close() {
      throw new Error('at once')
    },
  })
  closing.add('rejecting', { close: () => Promise.reject(new Error('later')) })
  await closing.close()
  assert.ok(isClosed)
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { part: string }).part),
    ['rejecting', 'throwing'],
  )
})
