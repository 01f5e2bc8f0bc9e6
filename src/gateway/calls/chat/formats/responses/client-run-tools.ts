/**
 * Tools of the Responses format that the client runs and the provider describes. At every upstream they are functions by
 * their documented inputs, and the client gets the items of the format; natively, too, because no provider says how many
 * tokens its own description has. https://developers.openai.com/api/docs/guides/tools
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { describeInput, type DescribedTool } from '../../../../providers/client-tools.ts'
import type { JsonObject } from '../../../../providers/contract.ts'

export interface ClientRunTool extends DescribedTool {
  /** The type of the item with a call, and the beginning of its id. */
  readonly callType: string
  readonly prefix: string
  /** The field of the item that has the arguments, and what the format wants in it. */
  readonly field: 'action' | 'operation' | 'actions'
  readonly defaults: JsonObject
}

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }
const TEXTS = { type: 'array', items: TEXT }
const ACTION = {
  type: 'object',
  properties: {
    type: {
      type: 'string',
      enum: 'click double_click drag keypress move screenshot scroll type wait'.split(' '),
    },
    x: NUMBER,
    y: NUMBER,
    button: { type: 'string', enum: ['left', 'right', 'wheel', 'back', 'forward'] },
    keys: TEXTS,
    text: TEXT,
    scroll_x: NUMBER,
    scroll_y: NUMBER,
    path: { type: 'array', items: { type: 'object', properties: { x: NUMBER, y: NUMBER } } },
  },
  required: ['type'],
}
const SCREEN =
  'Uses the mouse and the keyboard of a computer, and answers with a picture of its screen. Coordinates are pixels from the top left.'

/** The tools by their type, which is also the name of the function. */
const TOOLS: ReadonlyMap<unknown, ClientRunTool> = new Map<unknown, ClientRunTool>([
  [
    'shell',
    {
      ...describeInput(
        'Runs commands in a shell, each on its own.',
        { commands: TEXTS, timeout_ms: NUMBER, max_output_length: NUMBER },
        'commands',
      ),
      callType: 'shell_call',
      prefix: 'sh',
      field: 'action',
      defaults: { commands: [], timeout_ms: null, max_output_length: null },
    },
  ],
  [
    'local_shell',
    {
      ...describeInput(
        'Runs a command, given as its program and arguments.',
        { command: TEXTS, working_directory: TEXT, timeout_ms: NUMBER, env: { type: 'object' } },
        'command',
      ),
      callType: 'local_shell_call',
      prefix: 'lsh',
      field: 'action',
      defaults: { type: 'exec', command: [], env: {} },
    },
  ],
  [
    'apply_patch',
    {
      ...describeInput(
        'Creates, updates or deletes a file. `diff` is in the V4A format: lines that begin with "+", "-" or a space, after "@@" and a line of the context; for a new file, all lines begin with "+".',
        {
          type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
          path: TEXT,
          diff: TEXT,
        },
        'type',
        'path',
      ),
      callType: 'apply_patch_call',
      prefix: 'apc',
      field: 'operation',
      defaults: { type: 'update_file', path: '', diff: '' },
    },
  ],
  [
    'computer',
    {
      ...describeInput(SCREEN, { actions: { type: 'array', items: ACTION } }, 'actions'),
      callType: 'computer_call',
      prefix: 'cu',
      field: 'actions',
      defaults: { actions: [] },
    },
  ],
  [
    'computer_use_preview',
    {
      description: SCREEN,
      parameters: ACTION,
      callType: 'computer_call',
      prefix: 'cu',
      field: 'action',
      defaults: { type: 'screenshot' },
    },
  ],
])

/**
 * Returns how a tool that the client runs is offered to models; undefined for a tool that the client describes or does
 * not run: a shell in a container is the provider's.
 */
export function clientRunTool({ type, environment }: JsonObject): ClientRunTool | undefined {
  const isHere = !isObject(environment) || environment.type === 'local'
  return isHere ? TOOLS.get(type) : undefined
}

/** A call of such a tool as the client knows it. What a model wrote wrongly is missing. */
export function callFields(
  { callType, field, defaults }: ClientRunTool,
  written: unknown,
): JsonObject {
  const made = { ...defaults, ...parsed(written) }
  return {
    [field]: field === 'actions' ? made.actions : made,
    ...(callType === 'computer_call' ? { pending_safety_checks: [] } : {}),
    ...(callType === 'shell_call' ? { environment: { type: 'local' } } : {}),
  }
}

function parsed(written: unknown): JsonObject {
  if (typeof written !== 'string') return {}
  try {
    const value: unknown = JSON.parse(written)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** An item of such a tool, of an earlier turn, as the call of a function or its result; others as they are. */
export function toFunctionItem(item: JsonObject): JsonObject {
  const { type, action, operation, actions, output } = item
  // A result of a local shell has the id of its call as its own.
  const id = item.call_id ?? item.id
  switch (type) {
    case 'shell_call':
      return functionCall(id, 'shell', action)
    case 'local_shell_call':
      return functionCall(id, 'local_shell', action)
    case 'apply_patch_call':
      return functionCall(id, 'apply_patch', operation)
    case 'computer_call':
      return Array.isArray(actions)
        ? functionCall(id, 'computer', { actions })
        : functionCall(id, 'computer_use_preview', action)
    case 'shell_call_output':
      return functionResult(id, JSON.stringify(output ?? []))
    case 'local_shell_call_output':
      return functionResult(id, output)
    case 'apply_patch_call_output':
      return functionResult(id, JSON.stringify({ status: item.status, output }))
    case 'computer_call_output': {
      const { image_url: url, file_id: file } = isObject(output) ? output : {}
      return functionResult(id, [{ type: 'input_image', image_url: url, file_id: file }])
    }
    default:
      return item
  }
}

function functionCall(id: unknown, name: string, input: unknown): JsonObject {
  return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input ?? {}) }
}

function functionResult(id: unknown, output: unknown): JsonObject {
  return { type: 'function_call_output', call_id: id, output }
}
