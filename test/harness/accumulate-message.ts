/**
 * Reads the text of a streamed message as `@anthropic-ai/sdk` does, and refuses every sequence of events that one of the
 * known clients cannot read: a block begins, gets its deltas and ends before the next one, and indexes are consecutive.
 */
import assert from 'node:assert/strict'

export interface Accumulated {
  /** In the shape of a plain answer; of a stream that broke off, as far as it came. */
  readonly message: any
  /** The data of the `error` event, which ends a broken stream. */
  readonly error: any
}

export function accumulateMessage(text: string): Accumulated {
  let message: any
  let error: any
  let open: { block: any; json: string } | undefined
  let hasDelta = false
  let hasStopped = false
  for (const { name, data } of messageEvents(text)) {
    assert.equal(data.type, name, 'the event has the name of its type')
    assert.ok(!hasStopped && !error, `${name} comes after the end`)
    if (name !== 'error') assert.equal(message === undefined, name === 'message_start')
    switch (name) {
      case 'message_start':
        message = data.message
        assert.deepEqual(message.content, [])
        break
      case 'content_block_start':
        assert.ok(!open && !hasDelta, 'blocks do not overlap')
        assert.equal(data.index, message.content.length, 'indexes are consecutive')
        open = { block: data.content_block, json: '' }
        message.content.push(open.block)
        break
      case 'content_block_delta':
        assert.ok(open, 'a delta belongs to the open block')
        assert.equal(data.index, message.content.length - 1)
        addDelta(open, data.delta)
        break
      case 'content_block_stop':
        assert.ok(open, 'only a block that is open ends')
        assert.equal(data.index, message.content.length - 1)
        if (open.json !== '') open.block.input = JSON.parse(open.json)
        open = undefined
        break
      case 'message_delta': {
        assert.ok(!open && !hasDelta, 'all blocks have ended')
        hasDelta = true
        const { delta, usage, type: _type, ...rest } = data
        Object.assign(message, delta, { usage: { ...message.usage, ...usage } }, rest)
        break
      }
      case 'message_stop':
        assert.ok(hasDelta)
        hasStopped = true
        break
      case 'error':
        error = data
        break
      default:
        assert.equal(name, 'ping')
    }
  }
  assert.ok(hasStopped || error, 'the stream has an end')
  return { message, error }
}

function addDelta(open: { block: any; json: string }, delta: any): void {
  const { block } = open
  switch (delta.type) {
    case 'text_delta':
      assert.equal(block.type, 'text')
      block.text += delta.text
      break
    case 'input_json_delta':
      assert.match(block.type, /^(server_)?tool_use$/)
      open.json += delta.partial_json
      break
    case 'thinking_delta':
      assert.equal(block.type, 'thinking')
      block.thinking += delta.thinking
      break
    case 'citations_delta':
      assert.equal(block.type, 'text')
      block.citations = [...(block.citations ?? []), delta.citation]
      break
    default:
      assert.equal(delta.type, 'signature_delta')
      assert.equal(block.type, 'thinking')
      block.signature = delta.signature
  }
}

/** The events of a stream, each with its name and its data. */
export function messageEvents(text: string): { name: string; data: any }[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'))
    .map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: ([^\n]*)$/.exec(event) ?? []
      assert.ok(name !== undefined && data !== undefined, `an event is "${event.slice(0, 80)}"`)
      return { name, data: JSON.parse(data) }
    })
}
