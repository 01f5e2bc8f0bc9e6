/** Mails on keys, alerts, teams, webhooks and the account itself. */
import type { DataReader, Fact, Template } from './mail-content.ts'
import { t } from '../../platform/lib/language.ts'
import { nameForStrangers } from './name-for-strangers.ts'

export const ACCOUNT_TEMPLATES = {
  boas_vindas: () => ({
    subject: 'Boas-vindas',
    paragraphs: [
      'Sua conta está pronta. O saldo é pré-pago, em reais, e não expira: você paga só pelo que usar.',
      'Para começar: complete o perfil com CPF ou CNPJ, faça uma recarga e crie uma chave.',
    ],
    page: { label: 'Abrir o painel', path: '/' },
  }),
  chave_criada: (data) => {
    const isOne = data.count('others_count') === undefined
    return {
      subject: isOne ? t`Chave criada: ${keyName(data)}` : 'Chaves criadas',
      paragraphs: [
        isOne
          ? 'Uma chave de API foi criada na sua conta. Ela gasta o seu saldo.'
          : 'Estas chaves de API foram criadas na sua conta. Elas gastam o seu saldo.',
      ],
      facts: keyFacts(data),
      closing: [
        'Se não foi você, revogue o que não conhece e escreva para o contato no fim deste e-mail.',
      ],
    }
  },
  chave_revogada: (data) => {
    const isOne = data.count('others_count') === undefined
    return {
      subject: isOne ? t`Chave revogada: ${keyName(data)}` : 'Chaves revogadas',
      paragraphs: [
        isOne
          ? 'Uma chave de API da sua conta foi revogada e não volta a funcionar.'
          : 'Estas chaves de API da sua conta foram revogadas e não voltam a funcionar.',
      ],
      facts: keyFacts(data),
      closing: ['Se não foi você, escreva para o contato no fim deste e-mail.'],
    }
  },
  chave_pausada: (data) => {
    const isOne = data.count('others_count') === undefined
    return {
      subject: isOne ? t`Chave pausada: ${keyName(data)}` : 'Chaves pausadas',
      paragraphs: [
        isOne
          ? 'Uma chave de API da sua conta foi pausada: nenhuma chamada com ela é atendida até que alguém a retome.'
          : 'Estas chaves de API da sua conta foram pausadas: nenhuma chamada com elas é atendida até que alguém as retome.',
        ...(isOne ? [PAUSE_CAUSES[data.text('reason') ?? ''] ?? ''].filter(Boolean) : []),
      ],
      facts: [...keyFacts(data), ...(isOne ? spendingFacts(data) : [])],
      closing:
        isOne && data.is('reason', 'operator')
          ? []
          : [
              'Para continuar, abra Chaves no painel e escolha Retomar. Se a chave vazou, revogue-a e crie outra.',
            ],
    }
  },
  chave_retomada: (data) => {
    const isOne = data.count('others_count') === undefined
    return {
      subject: isOne ? t`Chave retomada: ${keyName(data)}` : 'Chaves retomadas',
      paragraphs: [
        isOne
          ? 'Uma chave de API da sua conta que estava pausada voltou a funcionar.'
          : 'Estas chaves de API da sua conta que estavam pausadas voltaram a funcionar.',
      ],
      facts: keyFacts(data),
      closing: ['Se não foi você, revogue a chave e escreva para o contato no fim deste e-mail.'],
    }
  },
  conta_suspensa: (data) => ({
    subject: 'Sua conta foi suspensa',
    paragraphs: [
      'Enquanto a conta estiver suspensa, as chamadas de modelos e as recargas são recusadas, inclusive as automáticas. Seu saldo continua na conta, e o painel segue aberto.',
      'Não pague um código Pix nem um boleto que já tenha gerado: eles estão sendo cancelados.',
    ],
    facts: [
      ['Motivo', data.text('reason')],
      ['Desde', data.time('at')],
    ],
    closing: [
      'Para resolver, ou se você não concorda, escreva para o contato no fim deste e-mail.',
    ],
  }),
  conta_reativada: (data) => ({
    subject: 'Sua conta está ativa de novo',
    paragraphs: [
      'A suspensão acabou: as chamadas de modelos e as recargas voltaram a funcionar. Suas chaves são as mesmas.',
      'Os códigos Pix e boletos que estavam em aberto foram cancelados. Se ainda quiser o saldo, crie outra recarga.',
    ],
    facts: [['Desde', data.time('at')]],
  }),
  alerta_gasto: (data) => ({
    subject: t`Alerta: ${data.text('name') ?? t('limite atingido')}`,
    paragraphs: ['Um alerta que você criou foi disparado.'],
    facts: [
      ['Alerta', data.text('name')],
      ['Limite', data.brl('threshold_brl')],
      ['Limite em dias', data.count('threshold_days')],
      ['Limite de chamadas com erro (%)', data.count('threshold_percent')],
      ['Gasto', data.brl('spent_brl')],
      ['Saldo', data.brl('balance_brl')],
      ['Duração estimada em dias', data.count('runway_days')],
      ['Chamadas com erro na última hora (%)', data.count('error_percent')],
      ['Só a chave', data.text('api_key_id')],
      ['Só a equipe', data.text('team_id')],
      ['Desde', data.time('period_started_at')],
      ['Disparado em', data.time('at')],
    ],
  }),
  convite_equipe: (data) => {
    return {
      isToStranger: true,
      subject: 'Convite para uma equipe',
      paragraphs: [
        'Você recebeu um convite para uma equipe. Quem faz parte dela usa modelos de IA com o saldo da equipe.',
        'Para aceitar, entre no painel com este endereço de e-mail, ou crie uma conta com ele: o convite está em Equipes. Pela API, use o código abaixo.',
      ],
      facts: [
        ['Equipe', nameForStrangers(data.text('team_name'))],
        ['Quem convidou', nameForStrangers(data.text('invited_by'))],
        ['Papel', roleOf(data)],
        ['Vale até', data.time('expires_at')],
      ],
      copied: copiedToken(data),
      link: linkToTeams(data),
      closing: [
        'Se você não esperava este convite, recuse ou ignore este e-mail: sem a sua resposta, nada acontece.',
      ],
    }
  },
  destino_de_uso_desligado: (data) => ({
    subject: 'Envio de uso desligado',
    paragraphs: [
      'Um dos seus destinos de uso não aceitou nada por três dias, e o envio foi desligado. Suas chamadas não mudam em nada.',
      'Corrija o destino e ligue-o de novo. O que foi cobrado nos últimos sete dias ainda será enviado.',
    ],
    facts: [
      ['Endereço', data.text('url')],
      ['Desligado em', data.time('at')],
    ],
  }),
  webhook_desativado: (data) => ({
    subject: 'Webhook desativado',
    paragraphs: [
      data.is('reason', 'gone')
        ? 'O destino de um dos seus webhooks respondeu que não existe mais (410), e ele foi desativado.'
        : 'As entregas a um dos seus webhooks falharam por muito tempo, e ele foi desativado.',
      'Corrija o destino e ative-o de novo. O que não foi entregue pode ser reenviado.',
    ],
    facts: [
      ['Endereço', data.text('url')],
      ['Webhook', data.text('id')],
      ['Desativado em', data.time('at')],
    ],
  }),
  webhook_segredo_rotacionado: (data) => ({
    subject: 'Segredo de webhook trocado',
    paragraphs: [
      'O segredo de assinatura de um dos seus webhooks foi trocado, e o antigo deixou de valer.',
    ],
    facts: [
      ['Endereço', data.text('url')],
      ['Webhook', data.text('id')],
      ['Data', data.time('at')],
    ],
    closing: ['Se não foi você, troque o segredo de novo e revogue as suas chaves.'],
  }),
  exportacao_pronta: (data) => ({
    subject: 'A cópia dos seus dados foi feita',
    paragraphs: [
      'Uma cópia dos dados da sua conta foi gerada a pedido (LGPD, art. 18).',
      'Ela é entregue na resposta de GET /v1/me/export, e nunca por e-mail.',
    ],
    facts: [['Data', data.time('at')]],
    closing: [
      'Se não foi você, revogue as suas chaves e escreva para o contato no fim deste e-mail.',
    ],
  }),
  resumo_semanal: (data) => ({
    subject: t`Seu resumo da semana de ${data.day('from') ?? t('uso')}`,
    preference: 'weekly_digest_enabled',
    paragraphs: ['O que a sua conta usou na semana passada:'],
    facts: [
      ['Período', period(data)],
      ['Gasto', data.brl('spent_brl')],
      ['Chamadas', data.count('requests')],
      ...data
        .list('top_models')
        .map((model, index) => [t`Modelo ${index + 1}`, modelLine(model)] as const),
      ['Saldo', data.brl('balance_brl')],
      ['Nesse ritmo, o saldo dura (dias)', data.count('runway_days')],
    ],
  }),
  incidentes: (data) => {
    const incidents = data.list('incidents')
    const [first, ...others] = incidents
    return {
      subject:
        first && others.length === 0
          ? `${t(incidentWord(first))}: ${first.text('title') ?? ''}`
          : 'Incidentes no serviço',
      preference: 'incident_email_enabled',
      paragraphs: ['Você pediu para saber dos incidentes no serviço. O que mudou:'],
      facts: [
        ...incidents.flatMap((incident): Fact[] => [
          [incidentWord(incident), incident.text('title')],
          ['Situação', incident.text('message')],
          ['Afeta', incident.text('affected')],
          ['Desde', incident.time('opened_at')],
          ['Até', incident.time('resolved_at')],
        ]),
        ['Outros incidentes', data.count('others_count')],
      ],
      page: { label: 'Ver o status', path: '/status' },
    }
  },
} satisfies Record<string, Template>

function incidentWord(incident: DataReader): string {
  return incident.is('status', 'resolved') ? 'Encerrado' : 'Incidente'
}

const PAUSE_CAUSES: Readonly<Record<string, string>> = {
  anomaly:
    'O gasto dela na última hora foi muito maior que o habitual. Se está tudo certo, basta retomá-la: esse ritmo passa a ser o habitual. No Perfil você ajusta ou desliga o limite.',
  leaked: 'Alguém informou que o segredo dela está exposto na internet.',
  owner: 'A pausa foi pedida na sua conta.',
  operator: 'A pausa foi feita pela operação do serviço. Para retomar, fale com o suporte.',
}

const ROLES: Readonly<Record<string, string>> = { admin: 'administrador', member: 'membro' }

function roleOf(data: DataReader): string | undefined {
  const role = ROLES[data.text('role') ?? '']
  return role && t(role)
}

function keyName(data: DataReader): string {
  return data.text('name') ?? t('sem nome')
}

function keyFacts(data: DataReader): Fact[] {
  return [
    ['Chave', data.text('name')],
    ['Termina em', data.text('last_four')],
    ['Id', data.text('id')],
    ...data.list('others').map((other): Fact => ['Também', keyLine(other)]),
    ['Outras chaves', data.count('others_count')],
    ['Data', data.time('at')],
  ]
}

/** Why the spending guard paused a key. */
function spendingFacts(data: DataReader): Fact[] {
  return [
    ['Gasto em 60 minutos', data.brl('spent_in_hour_brl')],
    ['Maior gasto habitual em uma hora', data.brl('usual_in_hour_brl')],
    ['Tarefa (x-svc-session-id)', data.text('session_id')],
  ]
}

function keyLine(key: DataReader): string {
  const lastFour = key.text('last_four')
  return lastFour === undefined ? keyName(key) : t`${keyName(key)}, termina em ${lastFour}`
}

function copiedToken(data: DataReader) {
  const token = data.code('token')
  return token === undefined ? undefined : { label: 'Código do convite', text: token }
}

function linkToTeams(data: DataReader) {
  const url = data.url('url')
  return url === undefined ? undefined : { label: 'Ver o convite', url }
}

function period(data: DataReader): string | undefined {
  const [from, to] = [data.day('from'), data.day('to')]
  return from && to && t`${from} a ${to}`
}

function modelLine(model: DataReader): string | undefined {
  const [id, spent, requests] = [model.text('id'), model.brl('spent_brl'), model.count('requests')]
  if (id === undefined) return undefined
  return [id, spent, requests && t`${requests} chamadas`].filter(Boolean).join(', ')
}
