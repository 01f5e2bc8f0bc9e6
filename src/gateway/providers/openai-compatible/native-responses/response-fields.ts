/**
 * The fields of a Responses request that reach an upstream that speaks this format. A field on no list is left out,
 * because it may be billed at a price that the catalog does not have, or stores something: hosted tools other than the
 * search of the web, `background`, `conversation`, `prompt`, `context_management`. The gateway itself writes `model`,
 * `max_output_tokens`, `max_tool_calls`, `stream`, `store`, `include` and `service_tier`.
 */
const set = (...names: string[]): ReadonlySet<string> => new Set(names)

export const PLAIN_FIELDS = set(
  'instructions',
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'prompt_cache_key',
  'safety_identifier',
  'user',
)
export const REASONING_FIELDS = set('effort', 'summary')
export const TEXT_FIELDS = set('format', 'verbosity')
export const FORMAT_FIELDS = set('type', 'name', 'description', 'schema', 'strict')

/** The fields of each type of item. Ids are left out: nothing is stored, so no id leads anywhere. */
export const ITEM_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['message', set('type', 'role', 'content', 'phase')],
  ['function_call', set('type', 'call_id', 'name', 'arguments')],
  ['function_call_output', set('type', 'call_id', 'output')],
  ['custom_tool_call', set('type', 'call_id', 'name', 'input')],
  ['custom_tool_call_output', set('type', 'call_id', 'output')],
  ['reasoning', set('type', 'summary', 'encrypted_content')],
])
/**
 * The fields of an item of a search, which is sent where the search itself is sent: without it, the item says nothing.
 */
export const SEARCH_ITEM_FIELDS = set('type', 'status', 'action')
export const PART_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['input_text', set('type', 'text')],
  ['output_text', set('type', 'text')],
  ['summary_text', set('type', 'text')],
  ['refusal', set('type', 'refusal')],
  ['input_image', set('type', 'image_url', 'detail')],
  ['input_file', set('type', 'file_data', 'filename')],
])
/** The details of images that are sent; others may make an image larger than the catalog's bound. */
export const IMAGE_DETAILS = set('auto', 'low', 'high')

export const TOOL_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['function', set('type', 'name', 'description', 'parameters', 'strict')],
  ['custom', set('type', 'name', 'description', 'format')],
])
export const SEARCH_TOOL_FIELDS = set(
  'filters',
  'user_location',
  'search_context_size',
  'external_web_access',
)
