// deep: starts processes
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI from 'openai'
import { startSandboxUpstream } from '../../src/sandbox/upstream/start-sandbox-upstream.ts'

const upstream = await startSandboxUpstream()
after(() => upstream.close())
const client = new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'any', maxRetries: 0 })

const BOUNDARY = 'fronteira-da-catraca'

type Field = readonly [name: string, value: string]

/** A compressed file, of which the sandbox counts 64,000 bytes as a second. */
function soundOf(seconds: number, filling: number | string = 7): Buffer {
  const file = Buffer.alloc(seconds * 64_000, filling)
  file.write('ID3')
  return file
}

function chunk(id: string, body: Buffer, size = body.length): Buffer {
  const head = Buffer.alloc(8)
  head.write(id, 'latin1')
  head.writeUInt32LE(size, 4)
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)])
}

interface WavOptions {
  readonly bytesPerSecond?: number
  readonly dataBytes?: number
  /** The values in the header; the true ones by default. */
  readonly dataBytesDeclared?: number
  readonly formatBytes?: number
  readonly before?: Buffer
  readonly after?: Buffer
}

function wavOf(options: WavOptions): Buffer {
  const { bytesPerSecond = 32_000, dataBytes = 64_000, formatBytes = 16 } = options
  const format = Buffer.alloc(formatBytes)
  format.writeUInt16LE(1, 0)
  format.writeUInt16LE(1, 2)
  format.writeUInt32LE(bytesPerSecond / 2, 4)
  format.writeUInt32LE(bytesPerSecond, 8)
  const none = Buffer.alloc(0)
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    options.before ?? none,
    chunk('fmt ', format),
    chunk('data', Buffer.alloc(dataBytes), options.dataBytesDeclared),
    options.after ?? none,
  ])
  return chunk('RIFF', body)
}

function post(file: Buffer | undefined, fields: readonly Field[], to = upstream.baseUrl) {
  const body = new FormData()
  for (const [name, value] of [['model', 'sandbox-transcribe'] as const, ...fields]) {
    body.append(name, value)
  }
  if (file !== undefined) body.append('file', new Blob([new Uint8Array(file)]), 'reunião.wav')
  return fetch(`${to}/audio/transcriptions`, { method: 'POST', body })
}

async function transcribe(file: Buffer, ...fields: Field[]): Promise<Record<string, unknown>> {
  const response = await post(file, fields)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/json')
  return (await response.json()) as Record<string, unknown>
}

async function transcribeText(file: Buffer, ...fields: Field[]): Promise<string> {
  const response = await post(file, fields)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  return response.text()
}

async function durationOf(file: Buffer): Promise<unknown> {
  return (await transcribe(file, ['response_format', 'verbose_json'])).duration
}

const SENTENCE_1 = 'Bom dia, aqui é a catraca da estação, e a gravação começou.'
const SENTENCE_2 = 'O primeiro trem chega às seis, e a plataforma já tem gente esperando.'

describe('a transcription', () => {
  test('as JSON has its text and its length in whole seconds, rounded up', async () => {
    assert.deepEqual(await transcribe(soundOf(7.25)), {
      text: `${SENTENCE_1} ${SENTENCE_2}`,
      usage: { type: 'duration', seconds: 8 },
    })
    assert.deepEqual((await transcribe(soundOf(5))).usage, { type: 'duration', seconds: 5 })
  })

  test('as verbose JSON has every field of the format, and no other', async () => {
    const more: Field[] = [
      ['response_format', 'verbose_json'],
      ['temperature', '0.5'],
      ['prompt', 'Estação'],
    ]
    const detail = { temperature: 0.5, avg_logprob: -0.25, compression_ratio: 1.25 }
    const common = { tokens: [], ...detail, no_speech_prob: 0.01, seek: 0 }
    assert.deepEqual(await transcribe(soundOf(7.25), ...more), {
      task: 'transcribe',
      language: 'portuguese',
      duration: 7.25,
      text: `${SENTENCE_1} ${SENTENCE_2}`,
      segments: [
        { id: 0, start: 0, end: 5, text: ` ${SENTENCE_1}`, ...common },
        { id: 1, start: 5, end: 7.25, text: ` ${SENTENCE_2}`, ...common },
      ],
      usage: { type: 'duration', seconds: 8 },
    })
    const english = await transcribe(soundOf(1), ...more, ['language', 'en'])
    assert.equal(english.language, 'english')
  })

  test('has words when they are requested, and segments with them only if they are requested too', async () => {
    const word: Field = ['timestamp_granularities[]', 'word']
    const segment: Field = ['timestamp_granularities[]', 'segment']
    const verbose: Field = ['response_format', 'verbose_json']
    const onlyWords = await transcribe(soundOf(5), verbose, word)
    assert.deepEqual(Object.keys(onlyWords), [
      'task',
      'language',
      'duration',
      'text',
      'words',
      'usage',
    ])
    const words = onlyWords.words as { word: string; start: number; end: number }[]
    assert.deepEqual(
      words.map((one) => one.word),
      SENTENCE_1.replace(/[,.]/g, '').split(' '),
    )
    assert.deepEqual(words[0], { word: 'Bom', start: 0, end: 0.417 })
    assert.deepEqual(words.at(-1), { word: 'começou', start: 4.583, end: 5 })
    assert.ok(words.every((one, index) => index === 0 || one.start === words[index - 1]?.end))
    const both = await transcribe(soundOf(5), verbose, word, segment)
    assert.deepEqual(both.words, words)
    assert.equal((both.segments as unknown[]).length, 1)
    assert.equal((await transcribe(soundOf(5), verbose, segment)).words, undefined)
  })

  test('as text, SubRip or WebVTT is in the format that players read', async () => {
    const file = soundOf(3605.5)
    assert.equal(await transcribeText(soundOf(4), ['response_format', 'text']), `${SENTENCE_1}\n`)
    const srt = await transcribeText(soundOf(7.25), ['response_format', 'srt'])
    assert.equal(
      srt,
      `1\n00:00:00,000 --> 00:00:05,000\n${SENTENCE_1}\n\n` +
        `2\n00:00:05,000 --> 00:00:07,250\n${SENTENCE_2}\n\n`,
    )
    const vtt = await transcribeText(soundOf(7.25), ['response_format', 'vtt'])
    assert.equal(
      vtt,
      `WEBVTT\n\n00:00:00.000 --> 00:00:05.000\n${SENTENCE_1}\n\n` +
        `00:00:05.000 --> 00:00:07.250\n${SENTENCE_2}\n\n`,
    )
    const long = await transcribeText(file, ['response_format', 'srt'])
    assert.match(long, /\n200\n00:59:47,473 --> 01:00:05,500\n.+\n\n$/)
  })

  test('is the same for every file of one length, and has at most 200 sentences', async () => {
    const sentences = async (seconds: number) =>
      ((await transcribe(soundOf(seconds))).text as string).split(/(?<=\.) /).length
    assert.deepEqual(await transcribe(soundOf(31)), await transcribe(soundOf(31, 'x')))
    assert.equal(await sentences(31), 7)
    assert.equal(await sentences(1000), 200)
    assert.equal(await sentences(2000), 200)
  })

  test('by a model that reports tokens counts ten a second, the prompt and the text', async () => {
    const fields: Field[] = [['prompt', 'Fala de trens.']]
    const model: Field = ['model', 'acme/sandbox-transcribe-tokens']
    const { text, usage } = await transcribe(soundOf(12.5), ...fields, model)
    const textTokens = countTokens('Fala de trens.')
    const outputTokens = countTokens(text as string)
    assert.deepEqual(usage, {
      type: 'tokens',
      input_tokens: textTokens + 125,
      output_tokens: outputTokens,
      total_tokens: textTokens + 125 + outputTokens,
      input_token_details: { text_tokens: textTokens, audio_tokens: 125 },
    })
    const plain = await transcribeText(soundOf(1), model, ['response_format', 'text'])
    assert.equal(plain, `${SENTENCE_1}\n`)
  })

  test('works with the official client, which sends the file before the model', async () => {
    const file = new File([new Uint8Array(soundOf(6))], 'a.mp3')
    const model = 'sandbox-transcribe'
    const plain = await client.audio.transcriptions.create({ file, model })
    assert.deepEqual(plain.usage, { type: 'duration', seconds: 6 })
    const verbose = await client.audio.transcriptions.create({
      file,
      model,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    assert.equal(verbose.segments?.length, 2)
    const srt = await client.audio.transcriptions.create({ file, model, response_format: 'srt' })
    assert.match(srt, /^1\n00:00:00,000/)
  })

  test('as a stream has its words, then its text and its usage; a verbose one is none', async () => {
    const file = new File([new Uint8Array(soundOf(6))], 'a.mp3')
    for (const model of ['sandbox-transcribe', 'sandbox-transcribe-tokens']) {
      const plain = await client.audio.transcriptions.create({ file, model })
      const events = []
      for await (const event of await client.audio.transcriptions.create({
        file,
        model,
        stream: true,
      }))
        events.push(event)
      const words = events.flatMap((event) =>
        event.type === 'transcript.text.delta' ? [event.delta] : [],
      )
      assert.equal(words.length, plain.text.split(' ').length)
      assert.equal(words.join(''), plain.text)
      const { text, usage } = plain
      assert.deepEqual(events.at(-1), { type: 'transcript.text.done', text, usage })
    }
    const verbose = await transcribe(
      soundOf(6),
      ['response_format', 'verbose_json'],
      ['stream', 'true'],
    )
    assert.equal(verbose.duration, 6)
  })
})

describe('the length of a WAV', () => {
  const odd = chunk('LIST', Buffer.alloc(100_001, 'data'))

  test('comes from its byte rate and its data, whatever other chunks the file has', async () => {
    assert.equal(await durationOf(wavOf({})), 2)
    assert.equal(await durationOf(wavOf({ bytesPerSecond: 88_200, dataBytes: 44_100 })), 0.5)
    assert.equal(await durationOf(wavOf({ formatBytes: 40 })), 2)
    assert.equal(await durationOf(wavOf({ formatBytes: 18, before: odd, after: odd })), 2)
  })

  test('comes from the received bytes when the header has no length or too large a one', async () => {
    for (const dataBytesDeclared of [0, 0xffff_ffff, 64_001]) {
      assert.equal(await durationOf(wavOf({ dataBytesDeclared })), 2)
    }
  })

  test('is an estimate when the header is invalid', async () => {
    const whole = wavOf({ dataBytes: 127_956 })
    assert.equal(whole.length, 128_000)
    assert.equal(await durationOf(wavOf({ dataBytes: 127_956, bytesPerSecond: 0 })), 2)
    assert.equal(await durationOf(whole.subarray(0, 40)), 40 / 64_000)
    assert.equal(await durationOf(Buffer.from(whole).fill('AVI ', 8, 12)), 2)
  })

  test('is the same however the network splits the file', async () => {
    const head = openUpload('cut')
    const file = wavOf({ before: chunk('LIST', Buffer.alloc(3)), dataBytes: 16_000 })
    const body = Buffer.concat([...writeForm([['response_format', 'verbose_json']], file)])
    const socket = connectTo(upstream.baseUrl)
    socket.setNoDelay(true)
    socket.write(`${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n`)
    const received = readAll(socket)
    for (let offset = 0; offset < body.length; offset += offset < 1000 ? 7 : 5000) {
      socket.write(body.subarray(offset, offset + (offset < 1000 ? 7 : 5000)))
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.match((await received).toString(), /"duration":0\.5,/)
  })
})

describe('a bad transcription request', () => {
  const tokens: Field = ['model', 'sandbox-transcribe-tokens']
  const faults: [string, Field[], string, string][] = [
    ['no model', [['model', '']], 'model', 'missing_required_parameter'],
    ['an unknown format', [['response_format', 'xml']], 'response_format', 'invalid_value'],
    ['temperature above 1', [['temperature', '1.1']], 'temperature', 'decimal_above_max_value'],
    ['temperature in words', [['temperature', 'hot']], 'temperature', 'invalid_type'],
    ['a language tag', [['language', 'pt-BR']], 'language', 'invalid_language_format'],
    [
      'an unknown granularity',
      [['timestamp_granularities[]', 'letter']],
      'timestamp_granularities[]',
      'invalid_value',
    ],
    [
      'words without verbose JSON',
      [['timestamp_granularities[]', 'word']],
      'timestamp_granularities',
      'invalid_value',
    ],
    ...(['srt', 'vtt', 'verbose_json'] as const).map(
      (format): [string, Field[], string, string] => [
        `${format} of a model that reports tokens`,
        [tokens, ['response_format', format]],
        'response_format',
        'unsupported_value',
      ],
    ),
  ]
  for (const [what, fields, param, code] of faults) {
    test(`(${what}) gets 400 in OpenAI's format, naming the field`, async () => {
      const response = await post(soundOf(1), fields)
      assert.equal(response.status, 400)
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code'])
      assert.deepEqual(
        [error.type, error.param, error.code],
        ['invalid_request_error', param, code],
      )
    })
  }

  test('(no file, an empty one, or one that is no audio) gets 400', async () => {
    for (const [file, code] of [
      [undefined, 'missing_required_parameter'],
      [Buffer.alloc(0), 'invalid_value'],
      [Buffer.alloc(4_000, 7), 'invalid_value'],
    ] as const) {
      const response = await post(file, [])
      assert.equal(response.status, 400)
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      assert.deepEqual([error.param, error.code], ['file', code])
    }
  })

  test('(no multipart form) gets 400', async () => {
    const url = `${upstream.baseUrl}/audio/transcriptions`
    for (const type of ['application/json', 'multipart/form-data', 'text/plain', undefined]) {
      const headers = type === undefined ? {} : { 'content-type': type }
      const body = new TextEncoder().encode('{}')
      const response = await fetch(url, { method: 'POST', body, headers })
      assert.equal(response.status, 400)
      assert.match(await response.text(), /Could not parse multipart form/)
    }
  })

  test('(a form cut off at any byte) gets an answer, and the server keeps running', async () => {
    const whole = Buffer.concat([...writeForm([], Buffer.from('som'))])
    const url = `${upstream.baseUrl}/audio/transcriptions`
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    for (let end = 0; end < whole.length - 2; end++) {
      const body = new Uint8Array(whole.subarray(0, end))
      const response = await fetch(url, { method: 'POST', body, headers })
      assert.equal(response.status, 400, `${end} bytes`)
      await response.text()
    }
    assert.equal((await post(soundOf(1), [])).status, 200)
  })
})

describe('an upload', () => {
  for (const [what, fields, status] of [
    ['a model that refuses', [['model', 'sandbox-error-429']], 429],
    ['a fault in a field', [['response_format', 'xml']], 400],
  ] as const) {
    test(`that fails for ${what} is answered before it is complete, and the rest is drained`, async () => {
      const socket = connectTo(upstream.baseUrl)
      const parts = [...writeForm(fields, soundOf(250))]
      const bytes = parts.reduce((sum, part) => sum + part.length, 0)
      socket.write(`${openUpload('early')}content-length: ${bytes}\r\n\r\n`)
      socket.write(parts[0] as Buffer)
      assert.match(await readOnce(socket), new RegExp(`^HTTP/1\\.1 ${status} `))
      for (const part of parts.slice(1)) socket.write(part)
      socket.write('GET /v1/models HTTP/1.1\r\nhost: s\r\n\r\n')
      assert.match(await readOnce(socket), /^HTTP\/1\.1 200 /)
      socket.destroy()
    })
  }

  test('that breaks off counts as aborted, and its tokens are counted for a model that bills tokens', async (context) => {
    const own = await startSandboxUpstream()
    context.after(() => own.close())
    const leaving = connectTo(own.baseUrl)
    leaving.write(`${openUpload('left')}content-length: 1000000\r\n\r\n`)
    leaving.write([...writeForm([], soundOf(1))][0] as Buffer)
    await waitFor(() => own.counts.requests === 1, 'the call is counted')
    leaving.destroy()
    await waitFor(() => own.counts.aborted === 1, 'the abort is counted')
    const tokens: Field = ['model', 'sandbox-transcribe-tokens']
    for (const fields of [[tokens], []]) await (await post(soundOf(5), fields, own.baseUrl)).text()
    const { calls, ...sums } = own.counts
    assert.deepEqual([...calls.keys()], ['left'])
    assert.deepEqual(sums, {
      requests: 3,
      completed: 2,
      refused: 0,
      broken: 0,
      aborted: 1,
      promptTokens: 50,
      completionTokens: countTokens(SENTENCE_1),
      webSearches: 0,
    })
  })

  test('of 100 MB is not kept in memory', async (context) => {
    const child = startChild()
    context.after(() => child.kill())
    const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [
      Buffer,
    ]
    const url = /http:\S+/.exec(line.toString())?.[0] ?? ''
    // The first uploads load lazily loaded code, and let the heap reach its size.
    for (let turn = 0; turn < 3; turn++) await upload(url, 20_000_000)
    const before = await readMemory(child)
    let largest = before
    const answer = await upload(url, 100_000_000, async () => {
      largest = Math.max(largest, await readMemory(child))
    })
    assert.match(answer, /"usage":\{"type":"duration","seconds":1563\}/)
    const grown = largest - before
    // The garbage collector's delay depends on the load of the machine.
    assert.ok(grown < 60_000_000, `${Math.round(grown / 1e6)} MB more are held`)
  })
})

function connectTo(baseUrl: string): Socket {
  return connect(Number(new URL(baseUrl).port), '127.0.0.1')
}

/** The bytes of the head, without its length and the empty line. */
function openUpload(callId: string): string {
  const type = `content-type: multipart/form-data; boundary=${BOUNDARY}`
  return `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: s\r\nx-catraca-call-id: ${callId}\r\n${type}\r\n`
}

/** The fields and the head of the file, then the file, then the end. */
function writeForm(fields: readonly Field[], file: Buffer): Iterable<Buffer> {
  const all = [['model', 'sandbox-transcribe'] as const, ...fields]
  const open = (more: string) => `--${BOUNDARY}\r\ncontent-disposition: form-data; ${more}\r\n\r\n`
  const written = all.map(([name, value]) => `${open(`name="${name}"`)}${value}\r\n`)
  const head = `${written.join('')}${open('name="file"; filename="a.wav"')}`
  // The first bytes of the file arrive with the head: before them no parser reports a file.
  const begun = Buffer.concat([Buffer.from(head), file.subarray(0, 2)])
  return [begun, file.subarray(2), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]
}

async function readAll(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

async function readOnce(socket: Socket): Promise<string> {
  const [part] = (await once(socket, 'data')) as [Buffer]
  return part.toString()
}

async function waitFor(isTrue: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 300 && !isTrue(); turn++) await delay(10)
  assert.ok(isTrue(), what)
}

/** The sandbox as a program that also answers each message with its memory usage. */
function startChild(): ChildProcess {
  const report = 'process.on("message", () => process.send(process.memoryUsage().rss))'
  return fork(join(import.meta.dirname, '../../src/sandbox/upstream/main.ts'), ['--port', '0'], {
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(report)}`],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
}

async function readMemory(child: ChildProcess): Promise<number> {
  child.send('rss')
  const [bytes] = (await once(child, 'message')) as [number]
  return bytes
}

/** A virtual file: the same piece again and again, as fast as it is read. */
async function upload(
  baseUrl: string,
  fileBytes: number,
  watch: () => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  const [head, , end] = writeForm([], Buffer.alloc(2, 7)) as [Buffer, Buffer, Buffer]
  const bytes = head.length - 2 + fileBytes + end.length
  const socket = connectTo(baseUrl)
  const received = readAll(socket)
  const opened = openUpload('big')
  socket.write(`${opened}content-length: ${bytes}\r\nconnection: close\r\n\r\n`)
  socket.write(head.subarray(0, -2))
  const piece = Buffer.alloc(100_000, 'ID3')
  for (let sent = 0; sent < fileBytes; sent += piece.length) {
    if (!socket.write(piece)) await once(socket, 'drain')
    if (sent % 2_000_000 === 0) await watch()
  }
  socket.write(end)
  return (await received).toString()
}
