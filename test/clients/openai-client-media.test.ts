// deep: starts processes
/**
 * The official `openai` client at the other endpoints: embeddings, images, transcriptions and the catalog. Only
 * `baseURL` and `apiKey` are changed.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI, { APIError, BadRequestError, NotFoundError, toFile } from 'openai'
import type { ImageEditStreamEvent, ImageGenStreamEvent } from 'openai/resources/images'
import { seedCustomer } from '../harness/test-database.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { nanoOf, untilNoUploadIsLeft, wav, withExactCharge } from '../harness/media-calls.ts'

const SECONDS = 12.3

let gateway: GatewayProcess
let client: OpenAI

before(async () => {
  gateway = await startGatewayProcess()
  client = clientOf(gateway.secret)
})

after(() => gateway.stop())

const clientOf = (apiKey: string): OpenAI =>
  new OpenAI({ baseURL: gateway.node.baseUrl, apiKey, maxRetries: 0 })

/** The cost that the gateway adds to the format, in nano-BRL. */
const costOf = (answer: object): bigint =>
  nanoOf((answer as { cost_billed_brl?: unknown }).cost_billed_brl)

const lengthOf = (vector: readonly number[]): number => Math.hypot(...vector)

test('texts, and the parts of one input, are judged by the model that the client takes for granted', async () => {
  await withExactCharge(gateway, async (secret) => {
    const own = clientOf(secret)
    const ofTexts = await own.moderations.create({ input: ['Olá!', 'Vou matar alguém.'] })
    assert.deepEqual(
      ofTexts.results.map(({ flagged, categories }) => [flagged, categories.violence]),
      [
        [false, false],
        [true, true],
      ],
    )
    const url = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')}`
    const ofParts = await own.moderations.create({
      model: 'sandbox-moderation',
      input: [
        { type: 'text', text: 'Vou matar a sede.' },
        { type: 'image_url', image_url: { url } },
      ],
    })
    assert.deepEqual(ofParts.results[0]?.category_applied_input_types.violence, ['text', 'image'])
    return { cost: costOf(ofTexts) + costOf(ofParts), calls: 2 }
  })
})

test('an embedding arrives as numbers, also when the client requests base64 by default', async () => {
  await withExactCharge(gateway, async (secret) => {
    const own = clientOf(secret)
    // Without an `encoding_format` this client asks for base64 and decodes it.
    const plain = await own.embeddings.create({
      model: 'sandbox-embedding',
      input: ['Olá, catraca!', 'Até logo.'],
    })
    assert.deepEqual([plain.object, plain.model], ['list', 'sandbox-embedding'])
    assert.deepEqual(
      plain.data.map(({ object, index, embedding }) => [object, index, embedding.length]),
      [
        ['embedding', 0, 1_536],
        ['embedding', 1, 1_536],
      ],
    )
    assert.ok(plain.usage.prompt_tokens > 0)
    assert.equal(plain.usage.total_tokens, plain.usage.prompt_tokens)

    const asNumbers = await own.embeddings.create({
      model: 'sandbox-embedding',
      input: ['Olá, catraca!', 'Até logo.'],
      encoding_format: 'float',
    })
    for (const [index, { embedding }] of plain.data.entries()) {
      assert.ok(Math.abs(lengthOf(embedding) - 1) < 1e-5)
      assert.deepEqual(embedding, (asNumbers.data[index]?.embedding ?? []).map(Math.fround))
    }
    return { cost: costOf(plain) + costOf(asNumbers), calls: 2 }
  })
})

test('embeddings have the requested number of dimensions', async () => {
  await withExactCharge(gateway, async (secret) => {
    const { data, ...answer } = await clientOf(secret).embeddings.create({
      model: 'text-embedding-3-large',
      input: 'Olá, catraca!',
      dimensions: 256,
    })
    assert.deepEqual(
      data.map(({ embedding }) => embedding.length),
      [256],
    )
    return { cost: costOf(answer) }
  })
})

test('tokens are embedded like texts', async () => {
  await withExactCharge(gateway, async (secret) => {
    const answer = await clientOf(secret).embeddings.create({
      model: 'text-embedding-3-small',
      input: [
        [40, 1_048, 7],
        [9, 8],
      ],
    })
    assert.deepEqual([answer.data.length, answer.usage.prompt_tokens], [2, 5])
    return { cost: costOf(answer) }
  })
})

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function assertPng(bytes: Buffer, width: number, height: number): void {
  assert.deepEqual(bytes.subarray(0, 8), PNG)
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [width, height])
}

test('an image arrives as an address of the gateway that needs no key, and is a real picture', async () => {
  await withExactCharge(gateway, async (secret) => {
    const answer = await clientOf(secret).images.generate({
      model: 'sandbox-image',
      prompt: 'Uma catraca ao pôr do sol.',
    })
    assert.equal(answer.data?.length, 1)
    const url = answer.data?.[0]?.url ?? ''
    assert.equal(new URL(url).origin, new URL(gateway.node.baseUrl).origin)
    const fetched = await fetch(url)
    assert.equal(fetched.status, 200)
    assert.equal(fetched.headers.get('content-type'), 'image/png')
    assertPng(Buffer.from(await fetched.arrayBuffer()), 1_024, 1_024)
    const guessed = await fetch(url.slice(0, -1) + (url.endsWith('A') ? 'B' : 'A'))
    assert.equal(guessed.status, 404)
    return { cost: costOf(answer) }
  })
})

test('several images of a size and a quality arrive as bytes, and differ', async () => {
  await withExactCharge(gateway, async (secret) => {
    const answer = await clientOf(secret).images.generate({
      model: 'sandbox-image',
      prompt: 'Uma catraca na chuva.',
      n: 3,
      size: '256x256',
      quality: 'low',
      response_format: 'b64_json',
    })
    const images = (answer.data ?? []).map(({ b64_json, url }) => {
      assert.equal(url, undefined)
      return Buffer.from(b64_json ?? '', 'base64')
    })
    for (const image of images) assertPng(image, 256, 256)
    assert.equal(new Set(images.map(String)).size, 3)
    // A full picture has 272 tokens; each of these has a sixteenth of its area.
    assert.equal(answer.usage?.output_tokens, 3 * 17)
    return { cost: costOf(answer) }
  })
})

const pictureIn = ([event]: readonly { readonly b64_json: string }[]): Buffer =>
  Buffer.from(event?.b64_json ?? '', 'base64')

test('images stream as events, from a prompt and from an edit', async () => {
  await withExactCharge(gateway, async (secret) => {
    const common = { model: 'sandbox-image', prompt: 'Uma catraca.', size: '256x256' } as const
    const drawn: ImageGenStreamEvent[] = []
    for await (const event of await clientOf(secret).images.generate({ ...common, stream: true }))
      drawn.push(event)
    const edited: ImageEditStreamEvent[] = []
    const image = await toFile(pictureIn(drawn), 'a.png', { type: 'image/png' })
    const edit = { ...common, image, stream: true } as const
    for await (const event of await clientOf(secret).images.edit(edit)) edited.push(event)
    for (const events of [drawn, edited]) assertPng(pictureIn(events), 256, 256)
    assert.deepEqual(
      [...drawn, ...edited].map(({ type }) => type),
      ['image_generation.completed', 'image_edit.completed'],
    )
    return { cost: costOf(drawn[0] ?? {}) + costOf(edited[0] ?? {}), calls: 2 }
  })
})

test('an image is edited, with a mask and with others, and is charged for what it shows the model', async () => {
  await withExactCharge(gateway, async (secret) => {
    const own = clientOf(secret)
    const drawn = await own.images.generate({
      model: 'sandbox-image',
      prompt: 'Uma catraca.',
      size: '256x256',
      response_format: 'b64_json',
    })
    const image = (): Promise<File> =>
      toFile(Buffer.from(drawn.data?.[0]?.b64_json ?? '', 'base64'), 'a.png', { type: 'image/png' })
    const masked = await own.images.edit({
      model: 'sandbox-image',
      image: await image(),
      mask: await image(),
      prompt: 'A mesma, à noite.',
      n: 2,
      size: '256x256',
      response_format: 'b64_json',
    })
    assert.equal(masked.data?.length, 2)
    for (const { b64_json } of masked.data ?? [])
      assertPng(Buffer.from(b64_json ?? '', 'base64'), 256, 256)
    const several = await own.images.edit({
      model: 'sandbox-image',
      image: [await image(), await image(), await image()],
      prompt: 'A mesma, à noite.',
      quality: 'low',
    })
    assert.equal(several.data?.length, 1)
    const ofImage = (several.usage?.input_tokens ?? 0) - (masked.usage?.input_tokens ?? 0)
    assert.ok(ofImage > 100, `${ofImage} tokens for one image more`)
    return { cost: costOf(drawn) + costOf(masked) + costOf(several), calls: 3 }
  })
})

test('a better quality costs more', async () => {
  const costs: bigint[] = []
  for (const quality of ['low', 'medium', 'high'] as const) {
    const answer = await client.images.generate({
      model: 'gpt-image-1',
      prompt: 'Uma catraca.',
      quality,
    })
    costs.push(costOf(answer))
  }
  const [low = 0n, medium = 0n, high = 0n] = costs
  assert.ok(low < medium && medium < high, costs.join(' '))
})

const audio = (): Promise<File> => toFile(wav(SECONDS), 'fala.wav', { type: 'audio/wav' })

test('a transcription has its text, its seconds and its cost', async () => {
  await withExactCharge(gateway, async (secret) => {
    const answer = await clientOf(secret).audio.transcriptions.create({
      model: 'whisper-1',
      file: await audio(),
      language: 'pt',
      prompt: 'Estação, catraca, trem.',
      temperature: 0,
    })
    assert.match(answer.text, /catraca/)
    assert.deepEqual(answer.usage, { type: 'duration', seconds: 13 })
    return { cost: costOf(answer) }
  })
})

test('a verbose transcription has times of its segments and, if requested, of its words', async () => {
  await withExactCharge(gateway, async (secret) => {
    const answer = await clientOf(secret).audio.transcriptions.create({
      model: 'whisper-1',
      file: await audio(),
      response_format: 'verbose_json',
      timestamp_granularities: ['segment', 'word'],
    })
    assert.equal(answer.duration, SECONDS)
    assert.equal(answer.language, 'portuguese')
    assert.deepEqual(
      answer.segments?.map(({ start, end }) => [start, end]),
      [
        [0, 5],
        [5, 10],
        [10, SECONDS],
      ],
    )
    assert.equal(answer.words?.at(-1)?.end, SECONDS)
    return { cost: costOf(answer) }
  })
})

test('transcriptions as plain text and as subtitles cost the same as JSON', async () => {
  await withExactCharge(gateway, async (secret) => {
    const own = clientOf(secret)
    const transcribe = async (response_format: 'text' | 'srt' | 'vtt'): Promise<string> =>
      own.audio.transcriptions.create({ model: 'whisper-1', file: await audio(), response_format })
    const json = await own.audio.transcriptions.create({ model: 'whisper-1', file: await audio() })

    assert.equal(await transcribe('text'), `${json.text}\n`)
    const [srt, vtt] = [await transcribe('srt'), await transcribe('vtt')]
    assert.match(
      srt,
      /^1\n00:00:00,000 --> 00:00:05,000\n\S.*\n\n2\n00:00:05,000 --> 00:00:10,000\n/,
    )
    assert.match(srt, /\n3\n00:00:10,000 --> 00:00:12,300\n\S/)
    assert.match(vtt, /^WEBVTT\n\n00:00:00\.000 --> 00:00:05\.000\n\S/)
    assert.equal(vtt.match(/-->/g)?.length, 3)
    return { cost: costOf(json) * 4n, calls: 4 }
  })
})

test('a streamed transcription comes word by word, and ends with its tokens and its cost', async () => {
  await withExactCharge(gateway, async (secret) => {
    const stream = await clientOf(secret).audio.transcriptions.create({
      model: 'gpt-4o-transcribe',
      file: await audio(),
      stream: true,
    })
    const events = []
    for await (const event of stream) events.push(event)
    const deltas = events.flatMap((event) =>
      event.type === 'transcript.text.delta' ? [event.delta] : [],
    )
    assert.ok(deltas.length > 10)
    const done = events.at(-1)
    assert.ok(done?.type === 'transcript.text.done')
    assert.equal(done.text, deltas.join(''))
    assert.match(done.text, /catraca/)
    assert.ok(done.usage && done.usage.output_tokens > 0)
    return { cost: costOf(done) }
  })
})

test('a transcription that is billed by token reports its tokens', async () => {
  await withExactCharge(gateway, async (secret) => {
    const answer = await clientOf(secret).audio.transcriptions.create({
      model: 'gpt-4o-transcribe',
      file: await audio(),
      prompt: 'Estação.',
    })
    assert.match(answer.text, /catraca/)
    assert.ok(answer.usage?.type === 'tokens')
    const { input_tokens, output_tokens, total_tokens, input_token_details } = answer.usage
    assert.equal(input_token_details?.audio_tokens, SECONDS * 10)
    assert.equal(input_tokens, SECONDS * 10 + (input_token_details?.text_tokens ?? 0))
    assert.ok(output_tokens > 0 && total_tokens === input_tokens + output_tokens)
    return { cost: costOf(answer) }
  })
})

test('sound is translated into English, as text, with its times, and costs its seconds', async () => {
  await withExactCharge(gateway, async (secret) => {
    const { translations } = clientOf(secret).audio
    const plain = await translations.create({
      model: 'whisper-1',
      file: await audio(),
      prompt: 'Station, turnstile.',
    })
    assert.match(plain.text, /catraca/)
    const verbose = (await translations.create({
      model: 'whisper-1',
      file: await audio(),
      response_format: 'verbose_json',
    })) as OpenAI.Audio.TranslationVerbose & { readonly task?: string }
    assert.deepEqual(
      [verbose.task, verbose.duration, verbose.segments?.length],
      ['translate', SECONDS, 3],
    )
    assert.equal(costOf(plain), costOf(verbose))
    return { cost: costOf(plain) + costOf(verbose), calls: 2 }
  })
})

test('the catalog lists the models, and each of them can be retrieved', async () => {
  const ids: string[] = []
  for await (const model of client.models.list()) {
    assert.equal(model.object, 'model')
    assert.ok(model.owned_by !== '')
    ids.push(model.id)
  }
  for (const id of ['gpt-4o', 'text-embedding-3-small', 'gpt-image-1', 'whisper-1'])
    assert.ok(ids.includes(id), id)
  assert.equal(new Set(ids).size, ids.length)
  const model = await client.models.retrieve('whisper-1')
  assert.deepEqual([model.id, model.object, model.owned_by], ['whisper-1', 'model', 'openai'])
  assert.equal('operation' in model && model.operation, 'transcriptions')
})

const picture = (): Promise<File> => toFile(PNG, 'a.png', { type: 'image/png' })

async function errorOf(call: Promise<unknown>): Promise<APIError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof APIError, `it ended with ${String(error)}`)
  return error
}

test('404: an unknown model is a NotFoundError, at every endpoint', async () => {
  const calls = [
    () => client.models.retrieve('gpt-99'),
    () => client.embeddings.create({ model: 'gpt-99', input: 'x' }),
    () => client.images.generate({ model: 'gpt-99', prompt: 'x' }),
    async () => client.images.edit({ model: 'gpt-99', prompt: 'x', image: await picture() }),
    async () => client.audio.transcriptions.create({ model: 'gpt-99', file: await audio() }),
    async () => client.audio.translations.create({ model: 'gpt-99', file: await audio() }),
  ]
  for (const call of calls) assert.ok((await errorOf(call())) instanceof NotFoundError)
  const refused = await errorOf(client.embeddings.create({ model: 'gpt-99', input: 'x' }))
  assert.deepEqual(
    [refused.status, refused.code, refused.type],
    [404, 'model_not_found', 'model_not_found'],
  )
})

test('400: a parameter that an endpoint or a model does not accept is a BadRequestError', async () => {
  const calls = [
    () => client.embeddings.create({ model: 'sandbox-embedding', input: '' }),
    () => client.embeddings.create({ model: 'sandbox-chat', input: 'x' }),
    () => client.images.generate({ model: 'sandbox-image', prompt: '' }),
    () => client.images.generate({ model: 'sandbox-image', prompt: 'x', size: '31x31' }),
    async () =>
      client.audio.transcriptions.create({
        model: 'gpt-4o-transcribe',
        file: await audio(),
        response_format: 'srt',
      }),
  ]
  for (const call of calls) {
    const error = await errorOf(call())
    assert.ok(error instanceof BadRequestError)
    assert.equal(error.code, 'invalid_request')
    assert.match(error.requestID ?? '', /^[0-9a-f-]{36}$/)
  }
})

test('402: an empty balance buys no embedding, no image and no transcription', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0' })
  const own = clientOf(secret)
  const calls = [
    () => own.embeddings.create({ model: 'sandbox-embedding', input: 'x' }),
    () => own.images.generate({ model: 'sandbox-image', prompt: 'x' }),
    async () => own.images.edit({ model: 'sandbox-image', prompt: 'x', image: await picture() }),
    async () => own.audio.transcriptions.create({ model: 'whisper-1', file: await audio() }),
    async () => own.audio.translations.create({ model: 'whisper-1', file: await audio() }),
  ]
  for (const call of calls) {
    const error = await errorOf(call())
    assert.deepEqual([error.status, error.code], [402, 'insufficient_balance'])
  }
})

test('after all of these calls nothing is held, no upload is left, and the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await untilNoUploadIsLeft(gateway.node)
  await assertAudit(gateway.database)
})
