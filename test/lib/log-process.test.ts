// deep: starts processes
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('a process can exit although it has not yet logged how many lines it omitted', () => {
  const script = `
    import { createLog } from ${JSON.stringify(import.meta.resolve('../../src/platform/lib/log.ts'))}
    const log = createLog('info', (line) => process.stdout.write(line))
    for (let number = 0; number < 25; number++) log.warn('slow')`
  const args = ['--input-type=module', '--eval', script]
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0)
  // Ten seconds later there would be one more line.
  assert.equal(stdout.trimEnd().split('\n').length, 20)
})
