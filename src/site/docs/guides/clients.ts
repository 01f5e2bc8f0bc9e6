/** One page for each client; the settings are those that `docs/clients.md` found. */
import { html, type Html } from '../../../platform/lib/html.ts'
import { t } from '../../../platform/lib/language.ts'
import {
  agentSamples,
  javascriptSample,
  PLACE_OF_SECRET,
  pythonSample,
  type CodeSample,
  type Use,
} from '../../pages/code-samples.ts'
import { section, type Guide, type GuideFacts } from '../doc-page.ts'
import { codeBlock, sampleTabs } from '../sample-blocks.ts'

export const clientGuides: readonly Guide[] = [
  client('claude-code', 'Claude Code', 'O agente de terminal da Anthropic, com qualquer modelo.', {
    set: ({ origin, models }) =>
      html`<p>
          O endereço vai sem <code>/v1</code>. O segundo modelo serve a tarefas curtas ao lado da
          conversa.
        </p>
        ${codeBlock(
          'Variáveis de ambiente',
          `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN=${PLACE_OF_SECRET}
export ANTHROPIC_MODEL=${models.claude}
export ANTHROPIC_DEFAULT_OPUS_MODEL=${models.claude}
export ANTHROPIC_DEFAULT_SONNET_MODEL=${models.claude}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${models.claudeSmall}
export CLAUDE_CODE_SUBAGENT_MODEL=${models.claude}
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
claude`,
        )}`,
    know: () =>
      html`<li>
          Qualquer modelo do catálogo com ferramentas funciona, de outros fabricantes também.
        </li>
        <li>
          Cada conversa é uma sessão de uso: o custo dela está em Sessões, e o teto por tarefa da
          chave vale para ela.
        </li>
        <li>
          Ele pede até 32.000 ou 128.000 tokens de saída por chamada. O pedido é reduzido ao que o
          modelo e o saldo permitem; <code>CLAUDE_CODE_MAX_OUTPUT_TOKENS</code> reserva menos saldo.
        </li>
        <li>Uma chave limitada a alguns modelos precisa incluir os dois.</li>
        <li>Busca na web, que a Anthropic executaria, fica de fora.</li>`,
  }),
  client('codex', 'Codex', 'O agente de terminal da OpenAI, pelo formato Responses.', {
    set: (facts) =>
      html`${codeBlock('~/.codex/config.toml', codexConfig(facts))}
      ${codeBlock('Depois', `export CATRACA_API_KEY=${PLACE_OF_SECRET}\ncodex`)}`,
    know: () =>
      html`<li>
          Qualquer modelo com ferramentas funciona. O Codex avisa de modelos que não conhece, e
          trabalha com eles.
        </li>
        <li>Ele envia a conversa inteira a cada volta, e não pede que nada fique guardado.</li>
        <li>
          Quando um stream cai, ele pede de novo sozinho; cada tentativa que chegou a escrever é
          cobrada.
        </li>`,
  }),
  client('cursor', 'Cursor', 'O editor, com a sua chave.', {
    set: ({ origin, models }) =>
      codeBlock(
        'O que preencher',
        agentSamples({ origin, secret: PLACE_OF_SECRET, model: models.chat }).find(
          ({ id }) => id === 'cursor',
        )?.code ?? '',
      ),
    know: () =>
      html`<li>
          Os servidores do Cursor chamam o endereço: ele precisa ser alcançável pela internet.
        </li>
        <li>
          O Cursor envia corpos do formato Responses para <code>/chat/completions</code>; a Catraca
          aceita os dois.
        </li>
        <li>
          Não foi testado com o próprio Cursor, que não roda sem janela; vale o que os usuários dele
          relatam.
        </li>`,
  }),
  client('opencode', 'opencode', 'O agente de terminal de código aberto.', {
    set: ({ origin, models }) =>
      html`${codeBlock(
        'opencode.json',
        JSON.stringify(
          {
            provider: {
              catraca: {
                npm: '@ai-sdk/openai',
                name: 'Catraca',
                options: { baseURL: `${origin}/v1`, apiKey: '{env:CATRACA_API_KEY}' },
                models: { [models.chat]: { limit: { context: 128_000, output: 16_000 } } },
              },
            },
            small_model: `catraca/${models.chat}`,
          },
          null,
          2,
        ),
      )}
      ${codeBlock('Depois, no terminal', `export CATRACA_API_KEY=${PLACE_OF_SECRET}\nopencode run --model catraca/${models.chat} "Explique este projeto"`)}`,
    know: () =>
      html`<li>
          Ponha em <code>limit</code> o contexto e a saída do modelo, que estão na
          <a href="/modelos">página dele</a>.
        </li>
        <li>Uma saída acima do máximo do modelo é reduzida, e não é um erro.</li>`,
  }),
  client('gemini', 'Gemini CLI e Google GenAI', 'Os clientes da Google, com qualquer modelo.', {
    set: ({ origin, models }) =>
      html`<p>O endereço vai sem <code>/v1beta</code>.</p>
        ${codeBlock(
          'Gemini CLI',
          `export GOOGLE_GEMINI_BASE_URL=${origin}
export GEMINI_API_KEY=${PLACE_OF_SECRET}
gemini --model ${models.chat}`,
        )}
        ${codeBlock(
          'Com @google/genai',
          `// npm install @google/genai
import { GoogleGenAI } from '@google/genai'

const ai = new GoogleGenAI({
  apiKey: '${PLACE_OF_SECRET}',
  httpOptions: { baseUrl: '${origin}' },
})
const resposta = await ai.models.generateContent({ model: '${models.chat}', contents: 'Olá!' })
console.log(resposta.text)`,
        )}`,
    know: () =>
      html`<li>
          Streams, ferramentas do seu programa, imagens, contagem de tokens e embeddings funcionam,
          e também a biblioteca de Python, <code>google-genai</code>.
        </li>
        <li>
          As ferramentas que a Google executaria, como <code>googleSearch</code> e
          <code>codeExecution</code>, são recusadas: elas não têm preço aqui.
        </li>
        <li>
          Na primeira vez o Gemini CLI pergunta como entrar: escolha a chave de API. Sem janela, a
          escolha fica em <code>~/.gemini/settings.json</code>:
          <code>{"security":{"auth":{"selectedType":"gemini-api-key"}}}</code>.
        </li>
        <li>Saldo insuficiente é um erro 402 com <code>FAILED_PRECONDITION</code>.</li>`,
  }),
  client('ai-sdk', 'AI SDK', 'A biblioteca da Vercel, em TypeScript.', {
    set: ({ origin, models }) =>
      codeBlock(
        'Com @ai-sdk/openai',
        `// npm install ai @ai-sdk/openai
import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'

const catraca = createOpenAI({ baseURL: '${origin}/v1', apiKey: '${PLACE_OF_SECRET}' })
const { text } = await generateText({ model: catraca('${models.chat}'), prompt: 'Olá!' })
console.log(text)`,
      ),
    know: () =>
      html`<li>Laços de ferramentas funcionam sem ajustes.</li>
        <li>
          Por padrão a biblioteca se refere a respostas anteriores pelo id. Para conversas de várias
          voltas, ligue o armazenamento de respostas em Perfil, ou passe
          <code>providerOptions: { openai: { store: false } }</code>.
        </li>
        <li>
          Com <code>@ai-sdk/openai-compatible</code> as chamadas vão no formato chat completions.
        </li>`,
  }),
  client('langchain', 'LangChain', 'Agentes e cadeias, em Python ou JavaScript.', {
    set: ({ origin, models }) =>
      html`${sampleTabs('langchain', [
        {
          id: 'python',
          client: 'Python',
          code: `# pip install langchain-openai
from langchain_openai import ChatOpenAI

modelo = ChatOpenAI(model="${models.chat}", base_url="${origin}/v1", api_key="${PLACE_OF_SECRET}")
print(modelo.invoke("Olá!").content)`,
        },
        {
          id: 'javascript',
          client: 'JavaScript',
          code: `// npm install @langchain/openai
import { ChatOpenAI } from '@langchain/openai'

const modelo = new ChatOpenAI({
  model: '${models.chat}',
  apiKey: '${PLACE_OF_SECRET}',
  configuration: { baseURL: '${origin}/v1' },
})
console.log((await modelo.invoke('Olá!')).content)`,
        },
      ])}`,
    know: () =>
      html`<li>
          Com <code>use_responses_api=True</code> (em JavaScript,
          <code>useResponsesApi: true</code>) ela usa o formato Responses; os dois funcionam, com
          ferramentas e em stream.
        </li>
        <li>
          <code>langchain-anthropic</code> usa o formato Messages, com o endereço sem
          <code>/v1</code>.
        </li>`,
  }),
  client('n8n', 'n8n', 'Automações sem código, com os nós de IA da OpenAI.', {
    set: ({ origin, models }) =>
      html`<ol>
        <li>Em <strong>Credentials</strong>, crie uma credencial <strong>OpenAI</strong>.</li>
        <li>Em <strong>API Key</strong>, ponha a sua chave.</li>
        <li>Em <strong>Base URL</strong>, ponha <code>${origin}/v1</code>.</li>
        <li>
          No nó <strong>OpenAI Chat Model</strong>, escolha a credencial e o modelo
          <code>${models.chat}</code>, da lista ou por id.
        </li>
      </ol>`,
    know: () =>
      html`<li>
          Os nós de hoje chamam o formato Responses (<code>/v1/responses</code>), que funciona com
          todos os modelos de chat.
        </li>
        <li>Dê à automação uma chave com a permissão <code>calls</code> e um teto por dia.</li>
        <li>
          Isto vem da leitura do código do n8n; ele não está entre os clientes que testamos a cada
          versão.
        </li>`,
  }),
  client('bibliotecas', 'Bibliotecas da OpenAI e da Anthropic', 'Só mudam o endereço e a chave.', {
    set: ({ origin, models }) =>
      html`<h3>OpenAI: formato Responses</h3>
        ${sampleTabs('Responses', responsesSamples({ origin, secret: PLACE_OF_SECRET, model: models.chat }))}
        <h3>Anthropic: formato Messages, endereço sem /v1</h3>
        ${sampleTabs('Messages', messagesSamples({ origin, secret: PLACE_OF_SECRET, model: models.claude }))}
        ${codeBlock('Por variáveis de ambiente', `export OPENAI_BASE_URL=${origin}/v1\nexport OPENAI_API_KEY=${PLACE_OF_SECRET}`)}`,
    know: () =>
      html`<li>
          <code>responses.retrieve</code> e <code>previous_response_id</code> funcionam se a conta
          guarda respostas (Perfil).
        </li>
        <li>
          <code>messages.stream</code>, <code>messages.countTokens</code> (uma estimativa),
          <code>messages.batches</code> e <code>models.list</code> funcionam; os arquivos da
          Anthropic não existem.
        </li>
        <li>O endereço funciona também sem <code>/v1</code>, e nos caminhos da Azure.</li>`,
  }),
]

function client(
  slug: string,
  title: string,
  description: string,
  { set, know }: { readonly set: (facts: GuideFacts) => Html; readonly know: () => Html },
): Guide {
  return {
    slug: `clientes/${slug}`,
    title,
    description,
    sections: (facts) => [
      section(
        'configurar',
        'Configure',
        html`<p>
            <a href="/docs/chaves-e-orcamentos">Crie uma chave</a> só para ele, com um teto, e
            ponha-a no lugar de <code>${t(PLACE_OF_SECRET)}</code>.
          </p>
          ${set(facts)}`,
      ),
      section(
        'saber',
        'Bom saber',
        html`<ul>
          ${know()}
        </ul>`,
      ),
    ],
  }
}

function responsesSamples(use: Use): readonly CodeSample[] {
  return [
    pythonSample(
      use,
      `resposta = client.responses.create(model="${use.model}", input="Olá!")
print(resposta.output_text)`,
    ),
    javascriptSample(
      use,
      `const resposta = await client.responses.create({ model: '${use.model}', input: 'Olá!' })
console.log(resposta.output_text)`,
    ),
  ]
}

function messagesSamples({ origin, secret, model }: Use): readonly CodeSample[] {
  return [
    {
      id: 'python',
      client: 'Python',
      code: `# pip install anthropic
from anthropic import Anthropic

client = Anthropic(base_url="${origin}", api_key="${secret}")
resposta = client.messages.create(
    model="${model}",
    max_tokens=1000,
    messages=[{"role": "user", "content": "Olá!"}],
)
print(resposta.content[0].text)`,
    },
    {
      id: 'javascript',
      client: 'JavaScript',
      code: `// npm install @anthropic-ai/sdk
import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${origin}', apiKey: '${secret}' })
const resposta = await client.messages.create({
  model: '${model}',
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Olá!' }],
})
console.log(resposta.content)`,
    },
  ]
}

/** `~/.codex/config.toml`. */
function codexConfig({ origin, models }: GuideFacts): string {
  return `model = "${models.chat}"
model_provider = "catraca"

[model_providers.catraca]
name = "Catraca"
base_url = "${origin}/v1"
env_key = "CATRACA_API_KEY"
wire_api = "responses"`
}
