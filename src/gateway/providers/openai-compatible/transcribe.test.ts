/** Transcriptions against a server with the published format, and against servers that do not read the whole upload. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import {
  StreamBroken,
  type TranscriptionAnswer,
  type TranscriptionCall,
  type UpstreamFailure,
  type UploadedFile,
} from '../contract.ts'
import { responseFormatOf } from './transcribe.ts'
import { startOpenAiUpstream } from '../../../../test/harness/openai-upstream.ts'

const upstream = await startOpenAiUpstream()
after(() => upstream.close())
beforeEach(() => {
  upstream.asked.length = 0
})

const NO_TOKENS = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
}
const PART_BYTES = 64 * 1024

/** A file that records how much of it was read and whether it was closed. */
class TestFile implements UploadedFile {
  readonly name: string
  readonly mediaType = 'audio/wav'
  readonly bytes: number
  readonly parts: readonly Buffer[]
  partsRead = 0
  readonly closed = Promise.withResolvers<void>()

  constructor(parts: readonly Buffer[], name = 'a.wav', bytes?: number) {
    this.parts = parts
    this.name = name
    this.bytes = bytes ?? parts.reduce((sum, part) => sum + part.length, 0)
  }

  async *read(): AsyncGenerator<Buffer> {
    try {
      for (const part of this.parts) {
        // A disk is slow, and the network continues meanwhile.
        await nextTurn()
        this.partsRead++
        yield part
      }
    } finally {
      this.closed.resolve()
    }
  }
}

function largeFile(parts = 1600): TestFile {
  return new TestFile(Array.from<Buffer>({ length: parts }).fill(Buffer.alloc(PART_BYTES, 1)))
}

async function transcribe(
  more: Partial<TranscriptionCall> = {},
  { provider = upstream.provider, signal = new AbortController().signal } = {},
): Promise<TranscriptionAnswer | UpstreamFailure> {
  const call: TranscriptionCall = {
    model: 'gpt-4o-transcribe',
    file: new TestFile([Buffer.from('RIFF')]),
    fields: [],
    detail: 'text',
    callId: 'call-1',
    ...more,
  }
  const outcome = await provider.transcribe(call, signal)
  return outcome.kind === 'stream' ? assert.fail('a stream') : outcome
}

async function usageFor(answer: object): Promise<unknown> {
  upstream.answerJson({ text: 'olá', ...answer })
  const outcome = await transcribe()
  return outcome.kind === 'transcription' ? outcome.usage : assert.fail(outcome.detail)
}

/** A plain TCP server, and an adapter connected to it. */
async function withSocketServer(
  serve: (socket: Socket) => void,
  run: (provider: typeof upstream.provider) => Promise<void>,
): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = upstream.open({ baseUrl: `http://127.0.0.1:${port}/v1` })
  try {
    await run(provider)
  } finally {
    await provider.close()
    server.close()
  }
}

test('a file is sent with its fields, byte for byte and with its length', async () => {
  upstream.answerJson({ text: 'olá' })
  const file = new TestFile([Buffer.from('RI'), Buffer.from('FF\r\n--')], 'ação "1"\n🎙️.wav')
  const fields = [
    ['language', 'pt'],
    ['prompt', 'um\ndois'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
  ] as const
  assert.deepEqual(await transcribe({ file, fields }), {
    kind: 'transcription',
    text: 'olá',
    usage: undefined,
  })
  const [asked] = upstream.asked
  assert.equal(asked?.method, 'POST')
  assert.equal(asked?.url, '/v1/audio/transcriptions')
  assert.equal(asked?.headers.authorization, 'Bearer sk-test')
  assert.equal(asked?.headers['x-catraca-call-id'], 'call-1')
  assert.equal(asked?.headers['transfer-encoding'], undefined)
  assert.equal(asked?.headers['content-length'], String(asked?.body.length))
  const [, boundary = ''] =
    /^multipart\/form-data; boundary=(.+)$/.exec(asked?.headers['content-type'] ?? '') ?? []
  assert.equal(
    asked?.body.toString().replaceAll(boundary, 'B'),
    '--B\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-4o-transcribe\r\n' +
      '--B\r\nContent-Disposition: form-data; name="response_format"\r\n\r\njson\r\n' +
      '--B\r\nContent-Disposition: form-data; name="language"\r\n\r\npt\r\n' +
      '--B\r\nContent-Disposition: form-data; name="prompt"\r\n\r\num\r\ndois\r\n' +
      '--B\r\nContent-Disposition: form-data; name="timestamp_granularities[]"\r\n\r\nword\r\n' +
      '--B\r\nContent-Disposition: form-data; name="timestamp_granularities[]"\r\n\r\nsegment\r\n' +
      '--B\r\nContent-Disposition: form-data; name="file"; filename="ação %221%22%0A🎙️.wav"\r\n' +
      'Content-Type: audio/wav\r\n\r\nRIFF\r\n--\r\n--B--\r\n',
  )
})

test('a customer cannot override fields that the gateway sets', async () => {
  upstream.answerJson({ text: '' })
  const fields = [
    ['model', 'expensive'],
    ['response_format', 'srt'],
    ['stream', 'true'],
    ['file', 'x'],
    ['temperature', '0'],
  ] as const
  await transcribe({ fields })
  const names = [...String(upstream.asked[0]?.body).matchAll(/; name="(\w+)"/g)].map(([, n]) => n)
  assert.deepEqual(names, ['model', 'response_format', 'temperature', 'file'])
  assert.doesNotMatch(String(upstream.asked[0]?.body), /expensive|srt|true/)
})

test('an empty file and one of a single byte are sent completely', async () => {
  for (const bytes of [0, 1]) {
    upstream.answerJson({ text: '' })
    const file = new TestFile(bytes === 0 ? [] : [Buffer.from('x')])
    assert.equal((await transcribe({ file })).kind, 'transcription')
    const body = String(upstream.asked.at(-1)?.body)
    assert.ok(body.includes(`audio/wav\r\n\r\n${'x'.repeat(bytes)}\r\n--`))
  }
})

test('the verbose format is requested from models billed by duration, and if timestamps are needed', () => {
  for (const [model, detail, format] of [
    ['whisper-1', 'text', 'verbose_json'],
    ['whisper-large-v3-turbo', 'text', 'verbose_json'],
    ['openai/Whisper-1', 'text', 'verbose_json'],
    ['distil-whisper-large-v3-en', 'text', 'verbose_json'],
    ['whisper-1', 'segments', 'verbose_json'],
    ['gpt-4o-transcribe', 'text', 'json'],
    ['gpt-4o-transcribe', 'segments', 'verbose_json'],
  ] as const) {
    assert.equal(responseFormatOf({ model, detail }), format, `${model}, ${detail}`)
  }
})

test('a verbose answer has its language, duration and timestamps', async () => {
  const segments = [
    { id: 0, seek: 0, start: 0, end: 3.32, text: ' Olá.', tokens: [50364], avg_logprob: -0.2 },
    { id: 1, seek: 0, start: 3.32, end: 8.47, text: ' Tudo bem?', tokens: [], avg_logprob: -0.1 },
  ]
  const words = [{ word: 'Olá', start: 0, end: 0.5 }]
  const usage = { type: 'duration', seconds: 9 }
  upstream.answerJson({
    task: 'transcribe',
    language: 'portuguese',
    duration: 8.470000267028809,
    text: 'Olá. Tudo bem?',
    segments,
    words,
    usage,
  })
  assert.deepEqual(await transcribe({ model: 'whisper-1', detail: 'segments' }), {
    kind: 'transcription',
    text: 'Olá. Tudo bem?',
    language: 'portuguese',
    durationSeconds: 8.470000267028809,
    segments,
    words,
    usage: { ...NO_TOKENS, audioSeconds: 9 },
  })
})

test('if one segment or word is malformed, the whole list is left out', async () => {
  const good = { start: 0, end: 1, text: 'a', word: 'a' }
  for (const bad of [null, 'x', { start: 0, end: 1 }, { ...good, start: '0' }]) {
    upstream.answerJson({ text: 'a', segments: [good, bad], words: [good, bad], language: 5 })
    assert.deepEqual(await transcribe(), { kind: 'transcription', text: 'a', usage: undefined })
  }
})

test('usage is read from tokens, seconds, both, or the duration alone', async () => {
  const tokens = {
    type: 'tokens',
    total_tokens: 101,
    input_tokens: 14,
    output_tokens: 87,
    input_token_details: { text_tokens: 4, audio_tokens: 10 },
  }
  const used = { ...NO_TOKENS, promptTokens: 14, completionTokens: 87, audioInputTokens: 10 }
  assert.deepEqual(await usageFor({ usage: tokens }), used)
  assert.deepEqual(await usageFor({ usage: tokens, duration: 7.2 }), used)
  const { input_token_details: _details, ...undetailed } = tokens
  const { audioInputTokens: _audio, ...undetailedUsed } = used
  assert.deepEqual(await usageFor({ usage: undetailed }), undetailedUsed)

  const seconds = (audioSeconds: number): object => ({ ...NO_TOKENS, audioSeconds })
  assert.deepEqual(await usageFor({ usage: { type: 'duration', seconds: 7 } }), seconds(7))
  assert.deepEqual(
    await usageFor({ usage: { type: 'duration', seconds: 7 }, duration: 9.1 }),
    seconds(7),
  )
  assert.deepEqual(await usageFor({ duration: 7.01 }), seconds(8))
  assert.deepEqual(await usageFor({ duration: 7 }), seconds(7))
  assert.deepEqual(await usageFor({ duration: '7.5' }), seconds(8))

  const mistral = {
    prompt_audio_seconds: 203,
    prompt_tokens: 4,
    total_tokens: 3264,
    completion_tokens: 635,
  }
  assert.deepEqual(await usageFor({ usage: mistral }), {
    ...NO_TOKENS,
    promptTokens: 4,
    completionTokens: 635,
    audioSeconds: 203,
  })
})

test('implausible usage is unknown, and a plausible duration replaces it', async () => {
  const absurd = [
    null,
    'much',
    {},
    { type: 'tokens', input_tokens: -1, output_tokens: 2 },
    { type: 'tokens', input_tokens: 1, output_tokens: 1e12 },
    { type: 'tokens', input_tokens: 1.5, output_tokens: 2 },
    { type: 'duration', seconds: -7 },
    { type: 'duration', seconds: 1e12 },
    { type: 'duration', seconds: 'many' },
  ]
  for (const usage of absurd) {
    assert.equal(await usageFor({ usage }), undefined, JSON.stringify(usage))
    const byDuration = { ...NO_TOKENS, audioSeconds: 3 }
    assert.deepEqual(await usageFor({ usage, duration: 2.5 }), byDuration, JSON.stringify(usage))
  }
  for (const duration of [-1, 1e12, '', ' ', 'long', null, [7]]) {
    assert.equal(await usageFor({ duration }), undefined, JSON.stringify(duration))
  }
  const greedy = {
    input_tokens: 14,
    output_tokens: 2,
    input_token_details: { audio_tokens: 15 },
  }
  assert.deepEqual(await usageFor({ usage: greedy }), {
    ...NO_TOKENS,
    promptTokens: 14,
    completionTokens: 2,
    audioInputTokens: 14,
  })
})

test('malformed answers are bad answers', async () => {
  for (const body of [
    '',
    'olá',
    'null',
    '[]',
    '{}',
    '{"text":null}',
    '{"text":["a"]}',
    '{"text":',
  ]) {
    upstream.answerJson(body)
    const answer = await transcribe()
    assert.equal(answer.kind === 'failure' && answer.reason, 'bad_answer', body)
  }
})

test('a refusal has its status and its retry time', async () => {
  upstream.answerJson('{"error":"unsupported format"}', 400)
  assert.deepEqual(await transcribe(), {
    kind: 'failure',
    reason: 'refused_request',
    status: 400,
    detail: '400',
  })
  upstream.answerJson('', 429, { 'retry-after': '1.5' })
  assert.deepEqual(await transcribe(), {
    kind: 'failure',
    reason: 'rate_limited',
    status: 429,
    retryAfterSeconds: 2,
    detail: '429',
  })
})

test('the refusal of an upstream that has not read the whole upload is read, however it closes', async () => {
  const refusal = 'HTTP/1.1 413 No\r\ncontent-length: 3\r\nretry-after: 5\r\n\r\nbig'
  const closings: Record<string, (socket: Socket) => void> = {
    destroys: (socket) => socket.write(refusal, () => socket.destroy()),
    resets: (socket) => socket.write(refusal, () => socket.resetAndDestroy()),
    ends: (socket) => socket.end(refusal),
    'stays and reads no more': (socket) => socket.pause().write(refusal),
    'stays and reads on': (socket) => socket.write(refusal),
  }
  for (const [name, close] of Object.entries(closings)) {
    for (const bytesBefore of [1, 1_000_000]) {
      const serve = (socket: Socket): void => {
        let bytes = 0
        const count = (part: Buffer): void => {
          bytes += part.length
          if (bytes < bytesBefore) return
          socket.off('data', count)
          socket.resume()
          close(socket)
        }
        socket.on('data', count)
      }
      await withSocketServer(serve, async (provider) => {
        // Repeated, because the result depends on a race.
        for (let time = 0; time < 20; time++) {
          const file = largeFile()
          assert.deepEqual(
            await transcribe({ file }, { provider }),
            {
              kind: 'failure',
              reason: 'refused_request',
              status: 413,
              retryAfterSeconds: 5,
              detail: '413',
            },
            name,
          )
          await file.closed.promise
          assert.ok(file.partsRead < file.parts.length)
        }
      })
    }
  }
})

test('after the head of a refusal, nothing more is sent', async () => {
  let bytes = 0
  const serve = (socket: Socket): void => {
    let silence: NodeJS.Timeout | undefined
    socket.on('data', (part) => {
      if (bytes === 0) socket.write('HTTP/1.1 401 No\r\ncontent-length: 3\r\n\r\n')
      bytes += part.length
      clearTimeout(silence)
      silence = setTimeout(() => socket.write('key'), 100)
    })
  }
  await withSocketServer(serve, async (provider) => {
    const file = largeFile()
    assert.deepEqual(await transcribe({ file }, { provider }), {
      kind: 'failure',
      reason: 'credentials_refused',
      status: 401,
      detail: '401',
    })
    assert.ok(bytes < file.bytes / 2, `${bytes} bytes`)
    await file.closed.promise
  })
})

test('a connection that breaks during the upload is lost, and the file is closed', async () => {
  for (const cut of ['destroy', 'resetAndDestroy', 'end'] as const) {
    const serve = (socket: Socket): void => {
      socket.once('data', () => socket[cut]())
    }
    await withSocketServer(serve, async (provider) => {
      const file = largeFile()
      const answer = await transcribe({ file }, { provider })
      assert.equal(answer.kind === 'failure' && answer.reason, 'connection_lost', cut)
      await file.closed.promise
    })
  }
})

test('an upload is no faster than the upstream reads it, and an abort ends it midway', async () => {
  for (const reason of [undefined, new Error('enough')]) {
    const connections: Socket[] = []
    const serve = (socket: Socket): void => {
      connections.push(socket.pause())
    }
    await withSocketServer(serve, async (provider) => {
      const file = largeFile()
      const leaving = new AbortController()
      const outcome = transcribe({ file }, { provider, signal: leaving.signal })
      let before = -1
      while (file.partsRead === 0 || before < file.partsRead) {
        before = file.partsRead
        await sleep(50)
      }
      assert.ok(file.partsRead < 400, `${file.partsRead} parts of ${PART_BYTES} bytes`)

      leaving.abort(reason)
      const answer = await outcome
      assert.equal(answer.kind === 'failure' && answer.reason, 'aborted')
      await file.closed.promise
      const [connection] = connections
      connection?.resume()
      if (!connection?.closed) await once(connection as Socket, 'close')
    })
  }
})

test('an abort before the call opens no file', async () => {
  const file = largeFile()
  const answer = await transcribe({ file }, { signal: AbortSignal.abort() })
  assert.equal(answer.kind === 'failure' && answer.reason, 'aborted')
  assert.equal(file.partsRead, 0)
})

test('an upstream that does not read the upload, or does not answer it, times out', async () => {
  const provider = upstream.open({ firstByteTimeoutMs: 50 })
  let asked = 0
  upstream.answerWith((request) => ((asked += 1) === 1 ? request.resume() : request.pause()))
  const meet = async (): Promise<void> => {
    const file = largeFile(200)
    const answer = await transcribe({ file }, { provider })
    assert.equal(answer.kind === 'failure' && answer.reason, 'first_byte_timeout')
    await file.closed.promise
  }
  await Promise.all([meet(), meet()])
  assert.equal(asked, 2)
})

test('a file without its declared size is our own fault: the call rejects', async () => {
  upstream.answerWith((request) => request.resume())
  const part = Buffer.alloc(PART_BYTES)
  for (const bytes of [PART_BYTES - 1, PART_BYTES + 1, 0]) {
    const file = new TestFile([part], 'a.wav', bytes)
    await assert.rejects(transcribe({ file }), { message: `the file does not have ${bytes} bytes` })
    await file.closed.promise
  }
  const gone: UploadedFile = {
    name: 'a.wav',
    mediaType: 'audio/wav',
    bytes: 1,
    async *read() {
      yield* []
      throw new Error('the disk is gone')
    },
  }
  await assert.rejects(transcribe({ file: gone }), { message: 'the disk is gone' })
})

test('after each of these failures the next call succeeds', async () => {
  const provider = upstream.open({ connectionsMax: 1 })
  upstream.answerWith((_request, response) => response.writeHead(413).end('big'))
  assert.equal((await transcribe({ file: largeFile(100) }, { provider })).kind, 'failure')
  upstream.answerWith((request) => request.destroy())
  assert.equal((await transcribe({ file: largeFile(100) }, { provider })).kind, 'failure')
  upstream.answerJson({ text: 'olá' })
  for (let time = 0; time < 3; time++) {
    const file = largeFile(30)
    assert.equal((await transcribe({ file }, { provider })).kind, 'transcription')
    assert.ok((upstream.asked.at(-1)?.body.length ?? 0) > file.bytes)
  }
})

/** Asks for a stream and reads it: its texts, and the error that ends it. */
async function hear(
  more: Partial<TranscriptionCall>,
): Promise<{ texts: string[]; error: unknown }> {
  const stream = await upstream.provider.transcribe(
    {
      model: 'gpt-4o-transcribe',
      file: new TestFile([Buffer.from('RIFF')]),
      fields: [],
      detail: 'text',
      stream: { outputTokensMax: 100 },
      callId: 'call-1',
      ...more,
    },
    new AbortController().signal,
  )
  if (stream.kind !== 'stream') return assert.fail(stream.kind)
  const texts: string[] = []
  const error = await stream
    .each((chunks) => {
      for (const { body } of chunks) texts.push((body as any).choices[0].delta.content)
      return undefined
    })
    .catch((broken: unknown) => broken)
  return { texts, error }
}

const SSE = { 'content-type': 'text/event-stream' }
const delta = (text: string): string =>
  `data: ${JSON.stringify({ type: 'transcript.text.delta', delta: text })}\n\n`
const DONE = 'data: {"type":"transcript.text.done"}\n\n'

test('an upstream may speak before it has the file, which is closed once it has spoken', async () => {
  const file = largeFile()
  upstream.answerWith((request, response) => {
    response.writeHead(200, SSE).write(delta('Bom '))
    request.once('data', () => response.end(delta('dia.') + DONE))
  })
  assert.deepEqual(await hear({ file }), { texts: ['Bom ', 'dia.', ''], error: undefined })
  await file.closed.promise
  assert.ok(file.partsRead < file.parts.length)
})

test('a file that cannot be read is no fault of an upstream that speaks already', async () => {
  const { parts } = largeFile(400)
  const file = new TestFile(parts, 'a.wav', 401 * PART_BYTES)
  upstream.answerWith((request, response) => {
    response.writeHead(200, SSE).write(delta('Bom '))
    request.resume()
  })
  const { texts, error } = await hear({ file })
  assert.deepEqual(texts, ['Bom '])
  assert.ok(!(error instanceof StreamBroken))
  assert.match(String(error), /does not have \d+ bytes/)
})

test('text for which there is no room ends the stream, and its connection', async () => {
  const room: number[] = []
  const closed = Promise.withResolvers<void>()
  upstream.answerWith((_request, response) => {
    response.once('close', () => closed.resolve())
    response.writeHead(200, SSE)
    for (let count = 0; count < 3; count += 1) response.write(delta('a'.repeat(200_000)))
  })
  const { texts, error } = await hear({
    takeBytes: (bytes) => {
      room.push(bytes)
      return room.length < 2
    },
  })
  assert.ok(texts.length < 3)
  assert.ok(error instanceof StreamBroken)
  assert.equal(error.failure.reason, 'no_room')
  await closed.promise
})
