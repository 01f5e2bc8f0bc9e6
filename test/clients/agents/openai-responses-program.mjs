// Calls of `openai`, the AI SDK, the Agents SDK and LangChain in the Responses format, as their users write them.
// Prints what came back as JSON.
import { createOpenAI } from '@ai-sdk/openai'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, run, setTracingDisabled, tool as agentTool } from '@openai/agents'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'

const { MODEL: model, CLIENT: client } = process.env
const STEPS = 'Faça:\nchame clima {"cidade":"Recife"}\nchame clima {"cidade":"Belém"}'
const cityOnly = z.object({ cidade: z.string() })

const programs = {
  /** Plain, streamed, and a loop of tools. */
  async openai() {
    const openai = new OpenAI()
    const ask = { model, input: 'Olá, catraca!' }
    const plain = await openai.responses.create(ask)
    const stream = openai.responses.stream(ask)
    let text = ''
    stream.on('response.output_text.delta', ({ delta }) => (text += delta))
    const streamed = await stream.finalResponse()
    const tools = [
      {
        type: 'function',
        name: 'clima',
        strict: true,
        parameters: {
          type: 'object',
          properties: { cidade: { type: 'string' } },
          required: ['cidade'],
          additionalProperties: false,
        },
      },
    ]
    const input = [{ role: 'user', content: STEPS }]
    const asked = []
    let answered
    for (;;) {
      answered = await openai.responses.stream({ model, input, tools }).finalResponse()
      input.push(...answered.output)
      const calls = answered.output.filter(({ type }) => type === 'function_call')
      if (calls.length === 0) break
      for (const { call_id, name, arguments: args } of calls) {
        asked.push([name, JSON.parse(args)])
        input.push({ type: 'function_call_output', call_id, output: 'sol' })
      }
    }
    const judged = await openai.moderations.create({ input: ['Olá!', 'Vou matar alguém.'] })
    const compacted = await openai.responses.compact({ model, input })
    const next = [...compacted.output, { role: 'user', content: 'E agora?' }]
    const { input_tokens } = await openai.responses.inputTokens.count({ model, input: next })
    const continued = await openai.responses.create({ model, input: next })
    const refused = await openai.responses.create({ ...ask, background: true }).catch((error) => ({
      name: error.constructor.name,
      status: error.status,
      code: error.code,
    }))
    return {
      texts: [plain.output_text, text, streamed.output_text],
      store: plain.store,
      asked,
      answer: answered.output_text,
      flagged: judged.results.map(({ flagged }) => flagged),
      compacted: compacted.output.map(({ type }) => type),
      counts: input_tokens > 0,
      continued: continued.output_text,
      refused,
    }
  },
  /** Its default settings, which refer to items of earlier steps instead of sending them. */
  async 'ai-sdk'() {
    const asked = []
    const clima = tool({
      inputSchema: cityOnly,
      execute(input) {
        asked.push(['clima', input])
        return 'sol'
      },
    })
    const settings = {
      model: createOpenAI()(model),
      prompt: STEPS,
      tools: { clima },
      stopWhen: stepCountIs(5),
    }
    const { text, steps } = await generateText(settings)
    const streamed = streamText(settings)
    let streamedText = ''
    for await (const part of streamed.textStream) streamedText += part
    // Its second turn refers to the first answer, which this account does not store.
    const turn = (messages, providerOptions) =>
      generateText({ model: settings.model, messages, ...(providerOptions && { providerOptions }) })
    const said = { role: 'user', content: 'Olá, catraca!' }
    const { response } = await turn([said])
    const messages = [said, ...response.messages, said]
    const refused = await turn(messages).catch((error) => error.message)
    const continued = await turn(messages, { openai: { store: false } })
    return {
      steps: steps.length,
      asked,
      answer: text,
      streamedAnswer: streamedText,
      refused,
      continued: continued.text,
    }
  },
  /** Several turns each, by `previous_response_id` and by references to items. */
  async stored() {
    const openai = new OpenAI()
    const first = await openai.responses.create({ model, input: 'Olá, catraca!' })
    const second = await openai.responses.create({
      model,
      input: 'E agora?',
      previous_response_id: first.id,
    })
    const retrieved = await openai.responses.retrieve(second.id)
    const items = []
    for await (const item of openai.responses.inputItems.list(second.id, {
      order: 'asc',
      limit: 2,
    }))
      items.push(item.role)
    await openai.responses.delete(second.id)
    const afterDeletion = await openai.responses
      .retrieve(second.id)
      .catch((error) => ({ name: error.constructor.name, code: error.code }))
    const messages = [{ role: 'user', content: 'Olá, catraca!' }]
    const turn = async () => {
      const { response } = await generateText({
        model: createOpenAI()(model),
        messages,
        include: { responseBody: true },
      })
      messages.push(...response.messages, { role: 'user', content: 'E agora?' })
      return response.body.output[0].type
    }
    const aiSdk = [await turn(), await turn(), await turn()]
    return {
      openai: {
        store: first.store,
        retrieved: retrieved.output_text ?? retrieved.output[0].content[0].text,
        answered: second.output_text,
        items,
        afterDeletion,
      },
      aiSdk,
    }
  },
  async agents() {
    setTracingDisabled(true)
    const asked = []
    const clima = agentTool({
      name: 'clima',
      description: 'O tempo de uma cidade.',
      parameters: cityOnly,
      execute(input) {
        asked.push(['clima', input])
        return 'sol'
      },
    })
    const agent = new Agent({ name: 'Tempo', instructions: 'Seja breve.', model, tools: [clima] })
    const { finalOutput } = await run(agent, STEPS)
    const streamed = await run(agent, STEPS, { stream: true })
    await streamed.completed
    return { asked, answer: finalOutput, streamedAnswer: streamed.finalOutput }
  },
  async langchain() {
    const asked = []
    const clima = langchainTool(() => 'sol', { name: 'clima', schema: cityOnly })
    const chat = new ChatOpenAI({ model, useResponsesApi: true }).bindTools([clima])
    const messages = [{ role: 'user', content: STEPS }]
    for (;;) {
      let answer
      for await (const chunk of await chat.stream(messages))
        answer = answer === undefined ? chunk : answer.concat(chunk)
      messages.push(answer)
      if (answer.tool_calls.length === 0) return { asked, answer: answer.text }
      for (const call of answer.tool_calls) {
        asked.push([call.name, call.args])
        messages.push(await clima.invoke(call))
      }
    }
  },
}

process.stdout.write(JSON.stringify(await programs[client]()))
