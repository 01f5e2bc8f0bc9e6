import { html } from '../../../platform/lib/html.ts'
import { curlSample, PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type Guide, table } from '../doc-page.ts'
import { codeBlock } from '../sample-blocks.ts'

export const keysAndBudgetsGuide: Guide = {
  slug: 'chaves-e-orcamentos',
  title: 'Chaves e orçamentos',
  description: 'Uma chave para cada programa, com permissão, modelos e um teto de gasto próprios.',
  sections: ({ origin, models }) => {
    const use = { origin, secret: PLACE_OF_SECRET }
    const limits = {
      name: 'agente de testes',
      model_ids: [models.chat],
      day_cap_brl: 20,
      task_cap_brl: 2,
      calls_at_once: 5,
    }
    return [
      section(
        'permissoes',
        'O que uma chave pode',
        html`<p>
            Cada permissão inclui a anterior. Para servidores e agentes use <code>calls</code>: quem
            achar a chave só gasta dentro dos limites dela.
          </p>
          ${table(
            'Permissões',
            ['scope', 'Pode'],
            [
              ['calls', 'Chamadas de modelos, o catálogo e GET /v1/usage.'],
              [
                'account',
                'Também uso, perfil, prompts, alertas, recargas por Pix e boleto, reembolsos.',
              ],
              [
                'manage',
                'Também chaves, webhooks, equipes, cartões e a exclusão da conta. Só é dada no painel, depois de confirmar a identidade.',
              ],
            ],
          )}`,
      ),
      section(
        'tetos',
        'Tetos de gasto',
        html`<p>
            Todos são conferidos antes de a chamada sair, também com muitas ao mesmo tempo: o que já
            está em andamento conta.
          </p>
          ${table(
            'Tetos',
            ['Campo', 'Limita'],
            [
              ['minute_cap_brl', 'O gasto da chave a cada minuto, em reais.'],
              ['day_cap_brl', 'O gasto a cada dia, no seu fuso.'],
              ['task_cap_brl', 'O gasto de cada tarefa: as chamadas com o mesmo x-svc-session-id.'],
              ['budget', 'O custo em dólares por dia, por mês ou na vida da chave.'],
              ['calls_at_once', 'As chamadas ao mesmo tempo.'],
              [
                'cache_seconds',
                'Não é um limite: por quanto tempo a resposta serve chamadas iguais.',
              ],
              ['auto_cache', 'Não é um limite: marca as conversas para o cache do provedor.'],
              ['expires_at', 'Até quando a chave vale.'],
            ],
          )}
          ${codeBlock('Criar uma chave com tetos (permissão manage)', curlSample(use, '/api-keys', limits).code, 'curl')}
          <p>O segredo vem em <code>key</code>, só nesta resposta.</p>`,
      ),
      section(
        'uma-chamada',
        'O teto de uma só chamada',
        html`<p>
            O cabeçalho <code>x-svc-max-cost-brl</code> diz quanto uma chamada pode custar. A saída
            é limitada a isso; se nem 64 tokens cabem, a resposta é
            <a href="/docs/erros#max_cost_exceeded"><code>402 max_cost_exceeded</code></a> e nada é
            cobrado.
          </p>
          ${codeBlock(
            'No máximo R$ 0,50',
            `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}" \\
  -H "x-svc-max-cost-brl: 0.50" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model: models.chat, messages: [{ role: 'user', content: 'Olá!' }] })}'`,
            'curl',
          )}`,
      ),
      section(
        'sessoes',
        'Agrupe chamadas numa sessão',
        html`<p>
            Envie o mesmo <code>x-svc-session-id</code> (até 80 caracteres) em todas as chamadas de
            uma tarefa: o custo dela aparece em <strong>Sessões</strong>, no painel, e em
            <a href="/docs/referencia/sessoes">GET /v1/me/sessions</a>.
          </p>
          ${codeBlock(
            'Uma chamada de uma tarefa',
            `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}" \\
  -H "x-svc-session-id: relatorio-2026-11" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model: models.chat, messages: [{ role: 'user', content: 'Olá!' }] })}'`,
            'curl',
          )}`,
      ),
      section(
        'vazou',
        'Se uma chave vazar',
        html`<p>
          Pause-a em <strong>Chaves</strong>, ou informe o segredo em
          <a href="/chave-vazada">chave vazada</a>, sem entrar na conta: ela é pausada na hora. Uma
          chave que gasta muito acima do habitual é pausada sozinha, com aviso por e-mail e webhook.
        </p>`,
      ),
    ]
  },
}
