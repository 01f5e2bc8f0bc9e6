import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { createProcessLog } from './log.ts'

interface Line {
  level: string
  event: string
  error?: { message: string; stack?: string; code?: string }
  suppressed?: number
  by_cause?: Record<string, number>
  number?: number
}

test('a cause gets twenty lines in ten seconds, and then a count of the others', () => {
  const { log, lines, clock } = openLog()
  for (let number = 0; number < 500; number++) log.error('disk_full', { number })
  assert.deepEqual(
    lines.map(({ number }) => number),
    Array.from({ length: 20 }, (_, number) => number),
  )
  clock.ms = 10_000
  log.error('disk_full', { number: 500 })
  assert.equal(lines[20]?.suppressed, 480)
  assert.deepEqual([lines[20]?.level, lines[20]?.event], ['error', 'disk_full'])
  assert.equal(lines[21]?.number, 500)
})

test('another event, level or error code has a limit of its own', () => {
  const { log, lines } = openLog()
  const failed = (code: string) => Object.assign(new Error('failed'), { code })
  for (let number = 0; number < 100; number++) log.error('query_failed', { error: failed('57P01') })
  log.error('query_failed', { error: failed('53100') })
  log.warn('query_failed', { error: failed('57P01') })
  log.error('other_failed', { error: failed('57P01') })
  assert.equal(lines.length, 23)
  assert.equal(lines[20]?.error?.code, '53100')
})

test('the code of the underlying error distinguishes causes, and numbers in a message do not', () => {
  const { log, lines } = openLog()
  for (let number = 0; number < 100; number++)
    log.error('append_failed', { error: new Error(`hold 01a20526-7f56-7004-b8cc-${number}`) })
  assert.equal(lines.length, 20)
  const cause = Object.assign(new Error('no room'), { code: 'ENOSPC' })
  log.error('append_failed', { error: new Error('hold 1', { cause }) })
  assert.equal(lines.length, 21)
})

test('the first line of a cause has a stack trace, and again one after ten minutes', () => {
  const { log, lines, clock } = openLog()
  const write = (): string | undefined => {
    log.error('broken', { error: new Error('broken') })
    return lines.at(-1)?.error?.stack
  }
  assert.ok(write())
  for (; clock.ms < 590_000; clock.ms += 10_000) assert.equal(write(), undefined)
  clock.ms = 600_000
  assert.ok(write())
})

test('suppressed lines are reported even when no line follows', (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, lines, clock } = openLog()
  for (let number = 0; number < 25; number++) log.warn('slow', { number })
  clock.ms = 10_000
  t.mock.timers.tick(10_000)
  assert.equal(lines.at(-1)?.suppressed, 5)
  t.mock.timers.tick(100_000)
  assert.equal(lines.length, 21)
})

test('every suppressed line is counted, and an event of few causes shows each of them', () => {
  const call = fc.record({
    level: fc.constantFrom('info' as const, 'warn' as const, 'error' as const),
    event: fc.nat(2_000),
    code: fc.option(fc.nat(300), { nil: undefined }),
    times: fc.integer({ min: 1, max: 60 }),
    waitMs: fc.oneof(fc.constant(0), fc.nat(30_000)),
  })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 120 }), (calls) => {
      const { log, lines, clock } = openLog()
      const firsts = new Set<string>()
      for (const { level, event, code, times, waitMs } of calls) {
        clock.ms += waitMs
        // Few events with many causes, and many events.
        const name = `event_${code === undefined ? event : event % 2}`
        const error =
          code === undefined ? undefined : Object.assign(new Error(), { code: `E${code}` })
        for (let time = 0; time < times; time++) log[level](name, error ? { error } : {})
        if (error) firsts.add(`${level} ${name} E${code}`)
      }
      log.flush()
      const written = lines.filter(({ suppressed }) => suppressed === undefined)
      const counted = lines.reduce((sum, { suppressed = 0 }) => sum + suppressed, 0)
      const logged = calls.reduce((sum, { times }) => sum + times, 0)
      assert.equal(written.length + counted, logged)
      const causes = (level: string, event: string): number =>
        [...firsts].filter((name) => name.startsWith(`${level} ${event} `)).length
      for (const first of firsts) {
        const [level, event, code] = first.split(' ') as [string, string, string]
        if (causes(level, event) > 50) continue
        assert.ok(
          written.some(
            (line) => line.level === level && line.event === event && line.error?.code === code,
          ),
          `${first} was seen`,
        )
      }
    }),
  )
})

function openLog() {
  const lines: Line[] = []
  const clock = { ms: 0 }
  const log = createProcessLog(
    'info',
    (line) => lines.push(JSON.parse(line) as Line),
    () => clock.ms,
  )
  return { log, lines, clock }
}
