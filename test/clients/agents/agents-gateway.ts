/** A gateway over a sandbox upstream in the test's own process, so that the charges can be compared with its counts. */
import assert from 'node:assert/strict'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { ask } from '../../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../../harness/assert-audit.ts'
import { startGatewayProcess, type GatewayProcess } from '../../harness/gateway-process.ts'
import { configured } from '../../harness/media-calls.ts'

export interface AgentsGateway {
  readonly gateway: GatewayProcess
  /** Without `/v1`. */
  readonly origin: string
  readonly sandbox: SandboxUpstream
  /** Asserts that each call of the upstream is charged once, by its own count, and that there are that many at least. */
  assertCharges(callsMin: number): Promise<void>
  /** While the account stores its responses. */
  withStoredResponses<Result>(work: () => Promise<Result>): Promise<Result>
  stop(): Promise<void>
}

/** Over an upstream that speaks chat completions. Answers, calls tools and streams. */
export const MODEL = 'agente'

/** A model over an upstream of each format. Where a client speaks the upstream's format, its requests pass natively. */
export const MODELS = {
  'chat completions': MODEL,
  Messages: 'agente-messages',
  Responses: 'agente-responses',
} as const

/** A model of vectors. */
export const VECTORS = 'agente-vetores'

export async function startAgentsGateway(): Promise<AgentsGateway> {
  const sandbox = await startSandboxUpstream()
  const gateway = await startGatewayProcess({
    ...configured({
      upstreams: [
        { id: MODEL, kind: 'openai-compatible', base_url: sandbox.baseUrl },
        {
          id: MODELS.Messages,
          kind: 'anthropic',
          base_url: sandbox.baseUrl,
          api_key_env: 'AGENTS_KEY',
        },
        {
          id: MODELS.Responses,
          kind: 'openai-compatible',
          base_url: sandbox.baseUrl,
          speaks_responses: true,
        },
      ],
      models: [
        {
          id: VECTORS,
          category: 'embedding',
          prices: { input: 1 },
          markup_multiplier: '1.5',
          routes: [{ upstream: MODEL, model: 'sandbox-embedding' }],
          context_tokens: 8_192,
          embedding: { dimensions: 1_536, can_shorten: true },
        },
        {
          // The model of requests for moderations that name none.
          id: 'omni-moderation-latest',
          category: 'embedding',
          moderation: true,
          prices: { input: 1 },
          markup_multiplier: '1.5',
          routes: [{ upstream: MODEL, model: 'sandbox-moderation' }],
          context_tokens: 8_192,
        },
        ...Object.values(MODELS).map((id) => ({
          id,
          category: 'llm',
          prices: {
            input: 1,
            cached_input: '0.1',
            cache_write: '1.25',
            cache_write_1h: 2,
            output: 2,
          },
          markup_multiplier: '1.5',
          routes: [{ upstream: id, model: 'sandbox-chat' }],
          context_tokens: 200_000,
          max_output_tokens: 16_384,
          image_tokens_max: 2_000,
          supports_tools: true,
        })),
      ],
    }),
    AGENTS_KEY: 'a-key',
  })
  return {
    gateway,
    origin: new URL(gateway.node.baseUrl).origin,
    sandbox,
    async assertCharges(callsMin) {
      await untilNoHoldIsOpen(gateway.database)
      const events = await gateway.database.db.selectFrom('usage_events').selectAll().execute()
      const { requests, completed, promptTokens, completionTokens } = sandbox.counts
      assert.ok(completed >= callsMin, `the upstream answered ${completed} calls`)
      assert.equal(requests, completed, 'each call of the upstream was answered')
      assert.equal(events.length, completed)
      for (const { outcome, usage_kind: kind } of events)
        assert.deepEqual([outcome, kind], ['charged', 'exact'])
      const sum = (count: (event: (typeof events)[number]) => number): number =>
        events.reduce((total, event) => total + count(event), 0)
      assert.deepEqual(
        [sum((event) => event.prompt_tokens), sum((event) => event.completion_tokens)],
        [promptTokens, completionTokens],
      )
      await assertAudit(gateway.database)
    },
    async withStoredResponses(work) {
      const set = async (days: number | null): Promise<void> => {
        const more = { secret: gateway.secret, method: 'PUT' }
        const body = { stored_responses_days: days }
        const answer = await ask(gateway.node.baseUrl, '/me/preferences', { ...more, body })
        assert.equal(answer.status, 200, answer.text)
      }
      await set(1)
      try {
        return await work()
      } finally {
        await set(null)
      }
    },
    async stop() {
      await gateway.stop()
      await sandbox.close()
    },
  }
}
