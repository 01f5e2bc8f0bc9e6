import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProcessLog } from './log.ts'

function parseError(): Error {
  try {
    JSON.parse('Ana Souza, CPF 529.982.247-25')
  } catch (error) {
    return error as Error
  }
  throw new Error('it is JSON')
}

test('the log has no text that an error quotes: not in messages, stacks, causes or counts', () => {
  const lines: string[] = []
  const log = createProcessLog('info', (line) => lines.push(line))
  const code = '22P02'
  const ofDatabase = Object.assign(
    new Error('invalid input syntax for type uuid: "Ana Souza\n 529.982.247-25"'),
    { code, detail: 'Key (email)=(ana@example.com)' },
  )
  for (let line = 0; line < 30; line++) {
    log.error('failed', { error: parseError() })
    log.error('failed_within', { error: new Error('outer', { cause: parseError() }) })
    log.error('query_failed', { error: ofDatabase })
  }
  log.flush()
  const all = lines.join('')
  assert.doesNotMatch(all, /Ana|529|example/)
  assert.match(all, /invalid input syntax for type uuid/)
  assert.match(all, /error-text\.test\.ts/, 'the stack stays')
})
