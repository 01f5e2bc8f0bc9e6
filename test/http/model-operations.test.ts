/** What the catalog says that a model does is what its call serves, for every kind of call. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { askForm, wav } from '../harness/media-calls.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})

after(() => gateway.stop())

const CALLS: Readonly<Record<string, (model: string) => Promise<Asked>>> = {
  chat: (model) =>
    post('/chat/completions', { model, messages: [{ role: 'user', content: 'Olá!' }] }),
  embeddings: (model) => post('/embeddings', { model, input: 'Olá!' }),
  rerank: (model) => post('/rerank', { model, query: 'Olá!', documents: ['Olá!'] }),
  moderations: (model) => post('/moderations', { model, input: 'Olá!' }),
  images: (model) => post('/images/generations', { model, prompt: 'Olá!' }),
  speech: (model) => post('/audio/speech', { model, input: 'Olá!', voice: 'alloy' }),
  transcriptions: (model) =>
    askForm(gateway.node.baseUrl, gateway.secret, [
      ['model', model],
      ['file', wav(2), 'fala.wav'],
    ]),
  videos: (model) => post('/videos', { model, prompt: 'Olá!' }),
}

function post(path: string, body: object): Promise<Asked> {
  const { node, secret } = gateway
  return ask(node.baseUrl, path, { method: 'POST', secret, body })
}

test('the catalog says which calls each model answers, and no other call serves it', async () => {
  const { models } = (await ask(gateway.node.baseUrl, '/models')).json
  for (const { id, operation } of models) assert.ok(CALLS[operation], `${id}: ${operation}`)
  for (const operation of Object.keys(CALLS)) {
    const own = models.find(
      (model: any) => model.id.startsWith('sandbox-') && model.operation === operation,
    )
    assert.ok(own, operation)
    assert.equal((await ask(gateway.node.baseUrl, `/models/${own.id}`)).json.operation, operation)
    for (const [called, call] of Object.entries(CALLS)) {
      const answer = await call(own.id)
      if (called === operation) assert.equal(answer.status, 200, `${own.id}: ${answer.text}`)
      else {
        assert.equal(answer.status, 400, `${own.id} at ${called}`)
        assert.match(answer.json.error.message, /use o endpoint d/, `${own.id} at ${called}`)
      }
    }
  }
})
