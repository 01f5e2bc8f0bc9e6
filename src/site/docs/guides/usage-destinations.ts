import { html } from '../../../platform/lib/html.ts'
import { curlSample, PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type Guide, table } from '../doc-page.ts'
import { codeBlock } from '../sample-blocks.ts'

export const usageDestinationsGuide: Guide = {
  slug: 'langfuse-e-otlp',
  title: 'Langfuse e OpenTelemetry',
  description:
    'Envie cada cobrança ao seu Langfuse ou a um coletor OTLP, com tokens e custo, sem prompts nem respostas.',
  sections: ({ origin }) => [
    section(
      'criar',
      '1. Cadastre um destino',
      html`<p>
          Em <strong>Destinos de uso</strong>, no painel, ou pela API, com uma chave que tem a
          permissão <code>manage</code>. Para o Langfuse, dê o endereço da instância e as chaves do
          projeto:
        </p>
        ${codeBlock(
          'Cadastrar um Langfuse',
          curlSample({ origin, secret: PLACE_OF_SECRET }, '/usage/destinations', {
            kind: 'langfuse',
            url: 'https://cloud.langfuse.com',
            public_key: 'pk-lf-SUA_CHAVE',
            secret_key: 'sk-lf-SEU_SEGREDO',
          }).code,
          'curl',
        )}
        <p>
          Qualquer outro coletor que aceita OTLP por HTTP em JSON serve também: dê o endpoint, ao
          qual acrescentamos <code>/v1/traces</code>, e os cabeçalhos que ele pede.
        </p>
        ${codeBlock(
          'Cadastrar um coletor OTLP',
          curlSample({ origin, secret: PLACE_OF_SECRET }, '/usage/destinations', {
            kind: 'otlp',
            url: 'https://otlp.exemplo.com.br',
            headers: { authorization: 'Bearer SEU_TOKEN' },
          }).code,
          'curl',
        )}
        <p>
          O endereço precisa ser https e público. As chaves e os cabeçalhos ficam cifrados e nunca
          mais aparecem; para mudar de servidor, informe-os de novo. Uma conta tem até três
          destinos.
          <code>POST /v1/usage/destinations/{id}/test</code> envia um span de teste em segundos.
        </p>`,
    ),
    section(
      'span',
      '2. O que chega',
      html`<p>
          Um span por cobrança, cerca de um minuto depois da chamada (até seis, se a conta passou
          uma hora sem uso): chamadas recusadas ou que falharam sem custo não vão. As chamadas nunca
          esperam por isso. Só vai o que for cobrado depois do cadastro.
        </p>
        ${table(
          'Os atributos de um span',
          ['Atributo', 'O que diz'],
          [
            ['gen_ai.request.model, gen_ai.operation.name', 'O modelo, e o tipo da chamada.'],
            [
              'gen_ai.usage.input_tokens, …output_tokens, …cache_read.input_tokens, …reasoning.output_tokens',
              'Os tokens. Os de cache fazem parte dos de entrada, e os de raciocínio dos de saída.',
            ],
            ['session.id, gen_ai.conversation.id', 'O seu x-svc-session-id.'],
            [
              'catraca.cost_billed_brl, catraca.cost_billed_brl_decimal',
              'O valor cobrado em reais, como número e como texto exato.',
            ],
            [
              'catraca.cost_upstream_usd, catraca.fx_rate, catraca.markup_multiplier',
              'De que o valor se compõe, como em GET /usage.',
            ],
            [
              'catraca.event_id, catraca.request_id, catraca.api_key_id, catraca.api_key_name, catraca.team_id',
              'A cobrança, a requisição, a chave e a equipe.',
            ],
          ],
        )}
        <p>
          O id do trace é o da requisição, sem hífens: mande o seu em
          <code>x-svc-request-id</code> para encontrar a chamada. No Langfuse o custo aparece em
          dólares: o valor cobrado pela cotação da própria cobrança. Uma correção é um span à parte,
          com o estorno em valores negativos; como o Langfuse não aceita custo negativo, lá o
          estorno é só um aviso.
        </p>`,
    ),
    section(
      'prompts',
      'Prompts e respostas',
      html`<p>
        Não vão. Quem quiser pode ligar <code>includes_content</code>: então vão os textos das
        chamadas a <code>/v1/responses</code> que a conta armazena (<a
          href="/docs/referencia/conta#put-me-preferences"
          >stored_responses_days</a
        >), como <code>gen_ai.input.messages</code> e <code>gen_ai.output.messages</code>. O que
        chaves de equipe conversam, e textos acima de 256 kB, não vão. De outras chamadas não
        guardamos nem prompt nem resposta.
      </p>`,
    ),
    section(
      'falhas',
      'Se o seu coletor não responde',
      html`<p>
        Cada cobrança é enviada pelo menos uma vez, sempre com os mesmos ids: uma repetição é o
        mesmo span. Depois de uma falha esperamos de 10 segundos a uma hora, ou o que
        <code>retry-after</code> pedir. Cobranças esperam sete dias; as mais antigas são descartadas
        e contadas em <code>given_up</code>. Um lote que o coletor recusa com <code>400</code> é
        contado em <code>rejected</code>; uma chave errada (<code>401</code>) ou um endereço errado
        (<code>404</code>) não descarta nada. Um destino que não aceita nada por três dias é
        desligado, e você recebe um e-mail.
      </p>`,
    ),
  ],
}
