import { html } from '../../../platform/lib/html.ts'
import {
  curlSample,
  javascriptSample,
  PLACE_OF_SECRET,
  pythonSample,
} from '../../pages/code-samples.ts'
import { section, type Guide } from '../doc-page.ts'
import { codeBlock, sampleTabs } from '../sample-blocks.ts'

export const streamingGuide: Guide = {
  slug: 'streaming',
  title: 'Streaming',
  description: 'Receba a resposta em pedaços, enquanto o modelo escreve, e o custo no fim.',
  sections: ({ origin, models }) => {
    const use = { origin, secret: PLACE_OF_SECRET }
    const body = {
      model: models.chat,
      messages: [{ role: 'user', content: 'Conte uma história curta.' }],
      stream: true,
      stream_options: { include_usage: true },
    }
    return [
      section(
        'pedir',
        'Peça em stream',
        html`<p>
            Com <code>"stream": true</code> a resposta vem como eventos (server-sent events). Com
            <code>include_usage</code>, o último pedaço traz os tokens e o custo em reais.
          </p>
          ${sampleTabs('stream', [
            curlSample(use, '/chat/completions', body, '-N'),
            pythonSample(
              use,
              `stream = client.chat.completions.create(
    model=${JSON.stringify(models.chat)},
    messages=[{"role": "user", "content": "Conte uma história curta."}],
    stream=True,
    stream_options={"include_usage": True},
)
for pedaco in stream:
    if pedaco.choices:
        print(pedaco.choices[0].delta.content or "", end="", flush=True)
    elif pedaco.usage:
        print("\\nR$", pedaco.cost_billed_brl)`,
            ),
            javascriptSample(
              use,
              `const stream = await client.chat.completions.create({
  model: ${JSON.stringify(models.chat)},
  messages: [{ role: 'user', content: 'Conte uma história curta.' }],
  stream: true,
  stream_options: { include_usage: true },
})
for await (const pedaco of stream) {
  process.stdout.write(pedaco.choices[0]?.delta.content ?? '')
  if (pedaco.usage) console.log('\\nR$', pedaco.cost_billed_brl)
}`,
            ),
          ])}`,
      ),
      section(
        'eventos',
        'O que chega',
        html`<p>
            Cada linha <code>data:</code> é um pedaço da resposta. Linhas que começam com
            dois-pontos (<code>: keep-alive</code>) mantêm a conexão aberta enquanto o modelo pensa;
            as bibliotecas as ignoram. O fim é <code>data: [DONE]</code>.
          </p>
          ${codeBlock(
            'Os eventos, abreviados',
            `data: {"choices":[{"index":0,"delta":{"content":"Era"}}]}

data: {"choices":[{"index":0,"delta":{"content":" uma vez"}}]}

data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":80,"total_tokens":92},"cost_billed_brl":0.00031}

data: [DONE]`,
          )}`,
      ),
      section(
        'interrompido',
        'Se o stream é interrompido',
        html`<ul>
          <li>
            <strong>O modelo para no meio:</strong> vem <code>data: {"error": …}</code>, sem
            <code>[DONE]</code>. Só é cobrado o que chegou a ser gerado.
          </li>
          <li>
            <strong>Você fecha a conexão antes de qualquer texto:</strong> num modelo que não
            raciocina a chamada é cancelada, e o prompt é cobrado.
          </li>
          <li>
            <strong>Você fecha depois:</strong> a resposta continua até o fim e é cobrada, porque o
            modelo a gera de qualquer forma. Para gastar menos, limite <code>max_tokens</code>.
          </li>
        </ul>`,
      ),
      section(
        'quando',
        'Quando usar',
        html`<p>
          Sempre que a resposta pode ser longa. Uma chamada sem stream que o modelo não termina no
          tempo limite (cinco minutos) é um <a href="/docs/erros#upstream_error"><code>502</code></a
          >, sem cobrança; em stream ela chega ao fim.
        </p>`,
      ),
    ]
  },
}
