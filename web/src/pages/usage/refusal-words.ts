/** What each reason for which a call was answered with an error means, and what to do next. */
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export interface RefusalWords {
  readonly title: string
  /** What happened, and what to do. */
  readonly advice: string
  /** Where it is done. */
  readonly link?: { readonly to: RefusalPlace; readonly text: string }
}

type RefusalPlace = '/recargas' | '/chaves' | '/equipes' | '/modelos' | '/perfil' | '/status'

/** By the code of the answer; `test/web/refusal-words.test.ts` has all that the gateway knows. */
export const REFUSAL_WORDS = perLanguage((): Readonly<Record<string, RefusalWords>> => {
  const keys = { to: '/chaves', text: t('Ver as chaves') } as const
  const topUp = { to: '/recargas', text: t('Fazer uma recarga') } as const
  const status = { to: '/status', text: t('Ver o status do serviço') } as const
  const models = { to: '/modelos', text: t('Ver os modelos') } as const
  const profile = { to: '/perfil', text: t('Abrir o perfil') } as const
  return {
    insufficient_balance: {
      title: t('Saldo insuficiente'),
      advice: t(
        'O saldo não cobria o máximo que a chamada podia custar. Recarregue, ou ligue a recarga automática.',
      ),
      link: topUp,
    },
    balance_on_hold: {
      title: t('Saldo reservado por outras chamadas'),
      advice: t(
        'Chamadas em andamento reservavam o saldo. Se acontece muito, mantenha um saldo maior ou peça menos tokens por chamada.',
      ),
      link: topUp,
    },
    key_budget_exceeded: {
      title: t('Orçamento da chave esgotado'),
      advice: t('A chave gastou o que podia no período. Aumente o orçamento dela ou espere.'),
      link: keys,
    },
    key_minute_cap_exceeded: {
      title: t('Limite por minuto da chave'),
      advice: t(
        'A chave gastou o que podia naquele minuto. Espalhe as chamadas ou aumente o limite.',
      ),
      link: keys,
    },
    key_day_cap_exceeded: {
      title: t('Limite por dia da chave'),
      advice: t('A chave gastou o que podia no dia. Aumente o limite ou espere até amanhã.'),
      link: keys,
    },
    key_task_cap_exceeded: {
      title: t('Limite por tarefa da chave'),
      advice: t('Uma sessão gastou o que podia. Comece outra ou aumente o limite por tarefa.'),
      link: keys,
    },
    team_cap_exceeded: {
      title: t('Limite mensal da equipe'),
      advice: t('A equipe gastou o que podia no mês. Quem é dono dela pode aumentar o limite.'),
      link: { to: '/equipes', text: t('Ver as equipes') },
    },
    max_cost_exceeded: {
      title: t('Acima do máximo da própria chamada'),
      advice: t(
        'A chamada podia custar mais do que o x-svc-max-cost-brl que seu programa enviou. Aumente-o ou encurte o prompt.',
      ),
    },
    api_key_rate_limited: {
      title: t('Chamadas ou tokens demais por minuto'),
      advice: t(
        'A chave chegou ao limite de requisições ou tokens por minuto. Espalhe as chamadas ou aumente o limite dela.',
      ),
      link: keys,
    },
    key_concurrency_exceeded: {
      title: t('Chamadas demais ao mesmo tempo na chave'),
      advice: t('A chave tem um limite de chamadas simultâneas. Espere as outras ou aumente-o.'),
      link: keys,
    },
    rate_limit_exceeded: {
      title: t('Requisições demais'),
      advice: t(
        'Foram chamadas demais ao mesmo tempo, da sua conta ou para o modelo. Espere o tempo de retry-after e repita.',
      ),
    },
    key_paused: {
      title: t('Chave pausada'),
      advice: t('A chave está pausada. Veja o motivo e retome-a, ou use outra.'),
      link: keys,
    },
    key_scope_insufficient: {
      title: t('Chave sem permissão'),
      advice: t('A chave só lê dados da operação e não chama modelos. Use uma chave de chamadas.'),
      link: keys,
    },
    ip_blocked_by_allowlist: {
      title: t('Endereço fora da lista da chave'),
      advice: t(
        'A chamada veio de um IP que a lista da chave não tem. Se não foi você, revogue a chave.',
      ),
      link: keys,
    },
    key_model_access_denied: {
      title: t('Modelo fora da lista da chave'),
      advice: t('A chave não pode usar este modelo. Inclua-o na chave ou use outra.'),
      link: keys,
    },
    account_suspended: {
      title: t('Conta suspensa'),
      advice: t('A conta está suspensa. Fale com o suporte.'),
    },
    authentication_failed: {
      title: t('Chave não aceita'),
      advice: t('A chave foi revogada ou venceu durante a chamada. Use outra.'),
      link: keys,
    },
    model_not_found: {
      title: t('Modelo que não existe'),
      advice: t('O id do modelo não está no catálogo. Confira se há um erro de digitação.'),
      link: models,
    },
    no_route_for_provider: {
      title: t('Nenhum provedor possível'),
      advice: t('Nenhum provedor do modelo atende ao que o campo provider pede.'),
      link: models,
    },
    invalid_request: {
      title: t('Requisição inválida'),
      advice: t(
        'Um campo era inválido, ou o corpo era grande demais ou ilegível. A mensagem que seu programa recebeu diz qual; repetir igual não ajuda.',
      ),
    },
    context_length_exceeded: {
      title: t('Texto maior que o contexto do modelo'),
      advice: t('Encurte a conversa ou escolha um modelo com contexto maior.'),
      link: models,
    },
    content_policy_violation: {
      title: t('Conteúdo recusado pelo modelo'),
      advice: t(
        'O modelo não aceita este conteúdo pelas regras de uso dele. Mude o texto ou a imagem.',
      ),
    },
    personal_data_found: {
      title: t('Dados pessoais na requisição'),
      advice: t(
        'A proteção de dados pessoais recusou a chamada. Remova os dados, ou mude a proteção da chave ou da conta.',
      ),
      link: profile,
    },
    previous_response_not_found: {
      title: t('Resposta anterior não guardada'),
      advice: t('Envie a conversa inteira, ou ligue o armazenamento de respostas no perfil.'),
      link: profile,
    },
    upstream_error: {
      title: t('Falha do modelo'),
      advice: t(
        'O modelo falhou antes de entregar a resposta. Repita; com modelos de reserva na chamada, outro responde no lugar.',
      ),
      link: status,
    },
    service_unavailable: {
      title: t('Modelo ou serviço indisponível'),
      advice: t(
        'O modelo ou o serviço ficou fora do ar por um momento. Tente de novo em alguns minutos ou use um modelo de reserva.',
      ),
      link: status,
    },
    service_paused: {
      title: t('Serviço pausado'),
      advice: t('As chamadas estavam pausadas pela operação do serviço. Acompanhe o status.'),
      link: status,
    },
    internal_error: {
      title: t('Falha nossa'),
      advice: t('A falha foi nossa. Se ela se repetir, envie o x-request-id ao suporte.'),
    },
  }
})

/** A code of a newer server than this page has no words yet. */
export function refusalWords(code: string): RefusalWords {
  const words = REFUSAL_WORDS()
  // The code may come from the URL: what every object inherits is no reason.
  return (
    (Object.hasOwn(words, code) ? words[code] : undefined) ?? {
      title: code,
      advice: t('A mensagem que seu programa recebeu diz o que houve.'),
    }
  )
}
