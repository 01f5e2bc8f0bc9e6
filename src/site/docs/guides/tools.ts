import { html } from '../../../platform/lib/html.ts'
import {
  curlSample,
  javascriptSample,
  PLACE_OF_SECRET,
  pythonSample,
} from '../../pages/code-samples.ts'
import { section, type Guide } from '../doc-page.ts'
import { codeBlock, sampleTabs } from '../sample-blocks.ts'

const QUESTION = 'Qual é a previsão do tempo em Recife?'
const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'previsao_do_tempo',
      description: 'A previsão do tempo de uma cidade.',
      parameters: {
        type: 'object',
        properties: { cidade: { type: 'string' } },
        required: ['cidade'],
      },
    },
  },
]

export const toolsGuide: Guide = {
  slug: 'ferramentas',
  title: 'Ferramentas',
  description: 'Deixe o modelo chamar funções do seu programa (tools) e use o que elas devolvem.',
  sections: ({ origin, models }) => {
    const use = { origin, secret: PLACE_OF_SECRET }
    const name = JSON.stringify(models.chat)
    return [
      section(
        'pedir',
        '1. Descreva as funções',
        html`<p>
            Em <code>tools</code> vai a descrição de cada função, com os parâmetros em JSON Schema.
            O modelo não executa nada: ele responde com o nome da função e os argumentos.
          </p>
          ${sampleTabs('funções', [
            curlSample(use, '/chat/completions', {
              model: models.chat,
              messages: [{ role: 'user', content: QUESTION }],
              tools: TOOLS,
            }),
            pythonSample(
              use,
              `import json

ferramentas = [{
    "type": "function",
    "function": {
        "name": "previsao_do_tempo",
        "description": "A previsão do tempo de uma cidade.",
        "parameters": {
            "type": "object",
            "properties": {"cidade": {"type": "string"}},
            "required": ["cidade"],
        },
    },
}]
mensagens = [{"role": "user", "content": "${QUESTION}"}]

while True:
    resposta = client.chat.completions.create(
        model=${name}, messages=mensagens, tools=ferramentas
    )
    mensagem = resposta.choices[0].message
    if not mensagem.tool_calls:
        break
    mensagens.append(mensagem)
    for chamada in mensagem.tool_calls:
        argumentos = json.loads(chamada.function.arguments)
        resultado = f"Sol em {argumentos['cidade']}, 29 °C"  # a sua função
        mensagens.append({"role": "tool", "tool_call_id": chamada.id, "content": resultado})
print(mensagem.content)`,
            ),
            javascriptSample(
              use,
              `const tools = ${JSON.stringify(TOOLS, null, 2)}
const messages = [{ role: 'user', content: '${QUESTION}' }]

let message
while (true) {
  const resposta = await client.chat.completions.create({ model: ${name}, messages, tools })
  message = resposta.choices[0].message
  if (!message.tool_calls?.length) break
  messages.push(message)
  for (const chamada of message.tool_calls) {
    const { cidade } = JSON.parse(chamada.function.arguments)
    const resultado = \`Sol em \${cidade}, 29 °C\` // a sua função
    messages.push({ role: 'tool', tool_call_id: chamada.id, content: resultado })
  }
}
console.log(message.content)`,
            ),
          ])}`,
      ),
      section(
        'responder',
        '2. Devolva o resultado',
        html`<p>
            Se o <code>finish_reason</code> é <code>tool_calls</code>, execute as funções e envie a
            conversa de novo, com a mensagem do modelo e uma mensagem <code>tool</code> para cada
            chamada. Os exemplos em Python e JavaScript fazem isso até o modelo responder em texto.
          </p>
          ${codeBlock(
            'O que vai na segunda chamada, em messages',
            JSON.stringify(
              [
                { role: 'user', content: QUESTION },
                {
                  role: 'assistant',
                  content: null,
                  tool_calls: [
                    {
                      id: 'call_1',
                      type: 'function',
                      function: { name: 'previsao_do_tempo', arguments: '{"cidade":"Recife"}' },
                    },
                  ],
                },
                { role: 'tool', tool_call_id: 'call_1', content: 'Sol, 29 °C' },
              ],
              null,
              2,
            ),
          )}`,
      ),
      section(
        'regras',
        'O que vale aqui',
        html`<ul>
          <li>
            Modelos que aceitam ferramentas dizem isso na sua <a href="/modelos">página</a>; os
            outros respondem <code>400 invalid_request</code>.
          </li>
          <li>
            <code>tool_choice</code> obriga ou proíbe o uso; chamadas em paralelo e em stream
            funcionam.
          </li>
          <li>
            Ferramentas que o próprio provedor executaria, como busca na web, não têm preço no
            catálogo e são recusadas.
          </li>
          <li>
            Cada volta do laço é uma chamada, cobrada com a conversa inteira. Um limite por tarefa
            na chave impede que um laço gaste sem fim:
            <a href="/docs/chaves-e-orcamentos#tetos">chaves e orçamentos</a>.
          </li>
        </ul>`,
      ),
    ]
  },
}
