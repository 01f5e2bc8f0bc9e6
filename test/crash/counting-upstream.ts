/** A sandbox upstream in a separate process, which counts its calls, and the calls in each format that lead to it. */
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUNDLE_IMPORTS } from '../harness/bundle-imports.ts'
import type { LoadCall } from '../harness/load-clients.ts'
import { findFreePort } from '../harness/find-free-port.ts'

export interface CountingUpstream {
  /** Settings of the nodes that call it. */
  readonly env: Readonly<Record<string, string>>
  /** Its calls, by the id of the hold. */
  calls(): Promise<ReadonlyMap<string, { readonly completed: number }>>
  stop(): void
}

const root = join(import.meta.dirname, '../..')

/** Writes the catalog of its models into `folder`. */
export async function startCountingUpstream(folder: string): Promise<CountingUpstream> {
  const port = await findFreePort()
  const upstream = spawn(
    process.execPath,
    [...BUNDLE_IMPORTS, join(root, 'src/sandbox/upstream/main.ts'), '--port', String(port)],
    { cwd: root, stdio: 'ignore' },
  )
  const configPath = join(folder, 'catraca.config.json')
  await writeFile(configPath, JSON.stringify(catalogConfig(port)))
  return {
    env: { CATRACA_CONFIG: configPath, CRASH_KEY: 'a-key' },
    async calls() {
      const answer = await fetch(`http://127.0.0.1:${port}/stats?calls=1`)
      const { calls } = (await answer.json()) as { calls: { id: string; completed: number }[] }
      return new Map(calls.map((call) => [call.id, call]))
    },
    stop: () => void upstream.kill('SIGKILL'),
  }
}

function catalogConfig(port: number): unknown {
  const models = ['sandbox-chat', 'sandbox-long', 'sandbox-no-usage']
  const upstreams = [
    { id: 'counting', kind: 'openai-compatible' },
    { id: 'messages', kind: 'anthropic', api_key_env: 'CRASH_KEY' },
    { id: 'responses', kind: 'openai-compatible', speaks_responses: true },
  ]
  return {
    upstreams: upstreams.map((upstream) => ({
      ...upstream,
      base_url: `http://127.0.0.1:${port}/v1`,
      cancel_stops_billing: true,
    })),
    models: [
      TRANSCRIPTS,
      ...upstreams.flatMap(({ id: upstream }) =>
        models.map((model) => ({
          id: upstream === 'counting' ? `billed-${model}` : `${upstream}-${model}`,
          category: 'llm',
          prices: {
            input: 1,
            output: 2,
            ...(upstream === 'counting' ? {} : { web_search: '0.01' }),
          },
          routes: [{ upstream, model }],
          context_tokens: 32_000,
          max_output_tokens: 4_096,
          supports_tools: true,
        })),
      ),
    ],
  }
}

const TRANSCRIPTS = {
  id: 'transcripts',
  category: 'audio',
  prices: { input: 1, input_audio: 3, output: 2 },
  max_output_tokens: 1_000,
  audio: { tokens_per_second_max: 20, has_timestamps: false },
  routes: [{ upstream: 'counting', model: 'sandbox-transcribe-tokens' }],
}

/**
 * Mostly short calls, some that stream for seconds, some without reported usage: in each format, to an upstream that
 * speaks it and to one that does not, with searches, and with responses that are stored.
 */
export const CALLS: readonly LoadCall[] = [
  { format: 'chat', model: 'billed-sandbox-chat' },
  { format: 'messages', model: 'messages-sandbox-chat' },
  { format: 'responses', model: 'responses-sandbox-chat' },
  { format: 'transcripts', model: TRANSCRIPTS.id },
  { format: 'chat', model: 'billed-sandbox-chat' },
  { format: 'messages', model: 'billed-sandbox-chat' },
  { format: 'responses', model: 'billed-sandbox-chat' },
  { format: 'chat', model: 'billed-sandbox-long' },
  { format: 'messages', model: 'messages-sandbox-chat', searches: true },
  { format: 'responses', model: 'responses-sandbox-chat', searches: true },
  { format: 'chat', model: 'billed-sandbox-no-usage' },
  { format: 'messages', model: 'messages-sandbox-long' },
  { format: 'responses', model: 'responses-sandbox-long' },
  { format: 'responses', model: 'messages-sandbox-no-usage' },
  { format: 'transcripts', model: TRANSCRIPTS.id },
]
