import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeGreeting } from './write-text.ts'

function answerTo(text: string): string {
  return writeGreeting([{ role: 'user', text, toolCalls: [], attachmentCount: 0 } as never])
}

test('a short question for an explanation, a comparison, a formula or code is answered in Markdown, others in one line', () => {
  assert.match(answerTo('Explique o que é um token.'), /\n\n## .*\n\n.*\*\*token\*\*[^]*\n1\. /)
  assert.match(answerTo('Faça uma tabela'), /\n\n\| O que \|[^|]*\|[^|]*\|\n\| --- \|/)
  assert.match(answerTo('Qual é a fórmula?'), /\n\n\$\$\n\\text\{custo\} = [^]*\n\$\$$/)
  assert.match(answerTo('Write a function'), /\n\n```python\n[^]*\n```$/)
  const all = answerTo('Mostre markdown')
  assert.ok(['## ', '| --- |', '```python'].every((part) => all.includes(part)))
  for (const text of ['Olá!', 'Meu pedido não chegou', 'o encode', 'Explique '.repeat(100)])
    assert.doesNotMatch(answerTo(text), /\n/)
})
