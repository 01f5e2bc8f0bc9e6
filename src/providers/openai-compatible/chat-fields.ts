/**
 * The fields of a chat that upstreams get. What is on neither list does not reach one: a field that
 * nobody here knows may be billed by a price that the catalog does not have. The gateway writes `model`,
 * the limit of output, `stream` and `stream_options` itself.
 */
const COMMON = [
  'messages',
  'n',
  'stop',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'seed',
  'user',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'prompt_cache_key',
  'safety_identifier',
]

/** OpenAI refuses fields that it does not know. */
export const OPENAI_CHAT_FIELDS: ReadonlySet<string> = new Set(COMMON)

/** Of upstreams that took the format over: also how tokens are drawn, and whether the model thinks. */
export const OPEN_CHAT_FIELDS: ReadonlySet<string> = new Set([
  ...COMMON,
  'top_k',
  'top_a',
  'min_p',
  'typical_p',
  'repetition_penalty',
  'min_tokens',
  'random_seed',
  'safe_prompt',
  'reasoning',
  'reasoning_format',
  'include_reasoning',
  'thinking',
  'enable_thinking',
])
