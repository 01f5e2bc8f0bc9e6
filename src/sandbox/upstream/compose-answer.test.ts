import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPlannedCall } from './compose-answer.ts'
import type { ChatMessage } from './read-messages.ts'

const message = (role: ChatMessage['role'], text: string): ChatMessage => ({
  role,
  text,
  attachmentCount: 0,
  toolCalls: [],
  toolCallId: undefined,
})
const PLAN = 'Faça isto:\n  chame Ler {"arquivo": "a.txt"}\nchame Gravar {"texto": "}"}\nObrigado!'
const ASKED = [message('system', 'chame Nada {}'), message('user', PLAN)]
const DONE = [message('assistant', ''), message('tool', 'feito')]

test('planned calls are made one after another, each after the result of the one before', () => {
  assert.deepEqual(findPlannedCall(ASKED), { name: 'Ler', argumentsText: '{"arquivo": "a.txt"}' })
  assert.deepEqual(findPlannedCall([...ASKED, ...DONE]), {
    name: 'Gravar',
    argumentsText: '{"texto": "}"}',
  })
  assert.equal(findPlannedCall([...ASKED, ...DONE, ...DONE]), 'done')
})

test('agents add messages of the user to a task, which do not end the plan', () => {
  const reminder = message('user', 'Lembrete do sistema.')
  assert.equal(findPlannedCall([...ASKED, reminder, ...DONE, reminder, ...DONE]), 'done')
})

test('a text without a plan, or with broken JSON, plans nothing', () => {
  for (const text of ['Olá', 'chame Ler', 'chame Ler {', 'chame Ler {a}', 'Não chame Ler {}'])
    assert.equal(findPlannedCall([message('user', text)]), undefined, text)
})
