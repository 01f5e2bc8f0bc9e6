/** What each error code means and what to do; a test compares the codes with those that the API answers. */
import { t } from '../../platform/lib/language.ts'

/** The amounts of this one are the operator's. */
const AMOUNT = 'amount must be number between'

export function errorAdvice(code: string): string | undefined {
  const advice = ERROR_ADVICE[code.startsWith(AMOUNT) ? AMOUNT : code]
  return advice && t(advice)
}

export const ERROR_ADVICE: Readonly<Record<string, string>> = {
  // Requests.
  invalid_request:
    'Há um campo inválido, ou o corpo não pôde ser lido (413: é grande demais; 415: compressão desconhecida). A mensagem diz qual; corrija e envie de novo. Repetir igual não ajuda.',
  payload_too_large: 'O corpo passa de 256 kB. Divida a requisição.',
  not_found: 'O endereço não existe. Confira o método, o caminho e o /v1.',
  endpoint_not_available:
    'O serviço não tem esta operação, que outros têm. A mensagem diz quais existem.',
  rate_limit_exceeded:
    'Requisições demais do seu endereço, da conta ou para o modelo. Espere os segundos de retry-after e repita.',
  internal_error:
    'Erro inesperado nosso; nada foi cobrado. Repita uma vez; se continuar, envie o x-request-id ao suporte.',
  // Keys and access.
  authentication_failed:
    'A chave falta, está errada, foi revogada ou expirou. Confira o cabeçalho Authorization: Bearer.',
  ip_blocked_by_allowlist:
    'O endereço IP não está na lista da chave. Chame de um servidor da lista, ou mude a lista.',
  key_paused: 'A chave está pausada. Veja o motivo em Chaves, no painel, e retome-a ou crie outra.',
  key_model_access_denied: 'A chave não pode usar este modelo. Inclua-o na chave, ou use outra.',
  key_scope_insufficient:
    'A permissão da chave não basta para esta operação. Use uma chave com a permissão que a referência indica.',
  beyond_own_key:
    'Uma chave só cria, altera e retoma chaves que podem o mesmo que ela, ou menos; com algum limite, não faz o que dura mais que ela ou vai além dele: webhooks, destinos, equipes, recarga automática, guardar respostas.',
  forbidden: 'A operação não é para este tipo de chave ou de conta, como uma chave de equipe.',
  csrf_token_missing:
    'Numa sessão do painel falta o cabeçalho x-csrf-token, ou ele é de outra sessão. Leia-o em GET /session. Com uma chave isso não acontece.',
  proof_needed: 'O ato exige confirmar a identidade no painel, nos últimos dez minutos.',
  paused_by_operator: 'A pausa é da operação do serviço. Fale com o suporte.',
  account_suspended: 'A conta está suspensa. Fale com o suporte.',
  // Money of a call.
  insufficient_balance:
    'O saldo não cobre o máximo que a chamada pode custar. Faça uma recarga, ou reduza max_tokens até o valor da mensagem.',
  balance_on_hold:
    'Outras chamadas suas em andamento reservam o saldo. Repita depois de retry-after; as bibliotecas fazem isso sozinhas.',
  key_budget_exceeded: 'O orçamento da chave acabou neste período. Aumente-o ou espere o próximo.',
  team_cap_exceeded: 'O limite mensal da equipe acabou. Peça a quem a administra que o aumente.',
  key_minute_cap_exceeded:
    'O limite por minuto da chave foi atingido (429: espere) ou é menor que esta chamada (402: aumente o limite ou reduza max_tokens).',
  key_day_cap_exceeded: 'O limite por dia da chave foi atingido. Aumente-o ou espere até amanhã.',
  key_task_cap_exceeded:
    'A tarefa (o x-svc-session-id) chegou ao limite da chave. Comece outra, ou aumente o limite.',
  max_cost_exceeded:
    'A chamada pode custar mais que o seu x-svc-max-cost-brl. Aumente-o, ou encurte o prompt.',
  // Model calls.
  context_length_exceeded:
    'O texto não cabe no contexto do modelo. Encurte a conversa ou escolha um modelo com contexto maior.',
  content_policy_violation:
    'O modelo recusou o conteúdo pelas regras de uso dele. Mude o texto ou as imagens.',
  personal_data_found:
    'A proteção de dados pessoais recusou a requisição. Remova os dados, ou mude a proteção da chave ou da conta.',
  model_not_found: 'O modelo não existe no catálogo. Confira o id em GET /models.',
  no_route_for_provider:
    'Nenhum provedor atende ao que o campo provider pede. Aumente max_price, ou peça menos em only, ignore, order e data_collection.',
  previous_response_not_found:
    'A resposta anterior não está guardada. Envie a conversa inteira em input, ou ligue o armazenamento em Perfil.',
  response_not_found: 'A resposta não existe: não foi guardada, foi apagada ou passou do prazo.',
  video_not_found: 'O vídeo não existe: não foi pedido aqui, foi apagado ou passou do prazo.',
  video_not_ready: 'O vídeo ainda não terminou, ou falhou. Consulte o status dele.',
  api_key_rate_limited:
    'O limite de requisições ou de tokens por minuto da chave foi atingido. Espere retry-after.',
  key_concurrency_exceeded:
    'A chave chegou ao seu limite de chamadas ao mesmo tempo. Espere uma terminar, ou aumente-o.',
  upstream_error:
    'Falha temporária; nada foi cobrado. Repita em alguns segundos. Se a mensagem fala em stream, use stream: repetir igual falharia de novo.',
  service_unavailable:
    'O modelo ou o serviço está fora do ar por um momento; nenhuma chamada foi cobrada. Repita em minutos, ou use um modelo de reserva. O que muda algo, repita com a mesma Idempotency-Key.',
  service_paused: 'As chamadas estão pausadas pela operação. Veja a página de status e espere.',
  image_not_found: 'A imagem passou de uma hora, ou o id está errado. Gere outra.',
  too_many_downloads: 'Downloads demais ao mesmo tempo. Espere um terminar.',
  // Repeated requests.
  idempotency_key_in_use:
    'A primeira requisição com esta Idempotency-Key ainda corre. Repita logo.',
  idempotency_key_reused:
    'A Idempotency-Key já veio em outra requisição. Nada aconteceu; use um valor novo.',
  too_many_idempotency_keys: 'Valores demais em 24 horas. Espere, ou envie sem o cabeçalho.',
  too_many_requests: 'Pedidos demais deste tipo. Espere retry-after.',
  // Keys.
  'name must be 3-50 chars': 'O nome da chave precisa ter de 3 a 50 caracteres.',
  no_valid_models:
    'Nenhum id de model_ids existe no catálogo. Confira em GET /models, ou peça todos com ["*"].',
  too_many_keys: 'A conta tem o máximo de chaves ativas. Revogue uma que não usa.',
  key_not_found: 'A chave não existe ou não é sua.',
  key_revoked: 'A chave foi revogada, para sempre. Crie outra.',
  // Usage.
  too_many_exports:
    'Já há duas exportações em andamento, ou foram muitas em uma hora. Espere o tempo do cabeçalho retry-after.',
  session_not_found: 'Nenhuma cobrança tem este x-svc-session-id.',
  // Prompts.
  prompt_not_found: 'O prompt não existe ou não é seu.',
  file_not_found: 'O arquivo não existe, foi apagado, passou do prazo ou é de outra chave.',
  batch_not_found: 'O lote não existe, foi apagado, passou do prazo ou é de outra chave.',
  too_many_files: 'A conta guarda o máximo de arquivos. Apague os que não usa, e lotes antigos.',
  too_many_batches: 'A conta tem o máximo de lotes. Espere um terminar, ou apague os antigos.',
  too_many_prompts: 'A conta tem o máximo de prompts. Exclua um.',
  prompts_too_large: 'O histórico dos prompts ocupa todo o espaço. Exclua um que não usa.',
  // The account.
  profile_not_found: 'A conta ainda não tem perfil. Crie-o com PUT /me/profile.',
  cpf_required: 'Falta o CPF ou CNPJ do perfil. Informe-o com PUT /me/profile.',
  invalid_cpf_cnpj_format: 'Um CPF tem 11 dígitos; um CNPJ, 14 caracteres.',
  invalid_cpf_cnpj_checksum: 'Os dígitos verificadores não conferem. Veja se há um dígito trocado.',
  calls_running: 'Ainda há chamadas em andamento. Espere que terminem e exclua a conta de novo.',
  refund_in_review: 'Um reembolso espera por análise. Exclua a conta depois da resposta.',
  balance_remaining: 'Há saldo na conta. Peça reembolso, ou abra mão dele com waive_balance.',
  // Teams.
  team_not_found: 'A equipe não existe, ou você não faz parte dela.',
  member_not_found: 'A pessoa não está na equipe.',
  invitation_not_found: 'O convite não vale mais: venceu, foi cancelado ou já foi respondido.',
  too_many_teams: 'A conta tem o máximo de equipes. Exclua uma.',
  too_many_members: 'A equipe está cheia.',
  too_many_invitations: 'A equipe tem o máximo de convites em aberto. Revogue os que não valem.',
  invitation_limit_reached: 'Convites demais em um dia. Tente amanhã.',
  already_member: 'A pessoa já está na equipe.',
  already_invited: 'A pessoa já tem um convite em aberto.',
  // Alerts and webhooks.
  usage_event_not_found: 'A cobrança não existe, não é sua, ou é a correção de outra.',
  no_trial_credit: 'Não há crédito para experimentar. Faça uma recarga.',
  trial_credit_used:
    'O crédito já foi usado com este CPF ou CNPJ, este e-mail ou este aparelho. Faça uma recarga.',
  trial_credit_not_new: 'O crédito é só para contas que ainda não tiveram nenhum.',
  trial_credit_exhausted: 'O crédito de hoje acabou. Tente de novo amanhã, ou faça uma recarga.',
  public_bill_not_found: 'A conta pública não existe, ou quem a mostrou fechou o endereço.',
  too_many_public_bills: 'A conta tem o máximo de contas públicas. Feche uma.',
  alert_not_found: 'O alerta não existe ou não é seu.',
  too_many_alerts: 'A conta tem o máximo de alertas. Exclua um.',
  webhook_not_found: 'O webhook não existe ou não é seu.',
  webhook_attempt_not_found: 'A tentativa não existe, ou passou de 30 dias.',
  webhook_disabled: 'O webhook está desligado. Ligue-o com PATCH /webhooks/{id}.',
  too_many_webhooks: 'A conta tem o máximo de webhooks. Exclua um.',
  too_many_queued: 'Há mensagens demais na fila deste webhook. Espere que sejam entregues.',
  usage_destination_not_found: 'O destino de uso não existe ou não é seu.',
  usage_destination_disabled:
    'O destino de uso está desligado. Ligue-o com PATCH /usage/destinations/{id}.',
  too_many_usage_destinations: 'A conta tem o máximo de destinos de uso. Exclua um.',
  // Payments.
  [AMOUNT]: 'O valor da recarga está fora dos limites, que estão na própria mensagem.',
  email_required: 'A conta precisa de um e-mail confirmado, para o recibo.',
  missing_card_or_holder_info: 'Faltam dados do cartão ou do titular. A mensagem diz quais.',
  card_rejected: 'O cartão foi recusado. Confira os dados, use outro cartão ou pague por Pix.',
  payment_refused: 'O processador recusou o pagamento. Use outro meio.',
  payment_processor_unavailable:
    'O processador não respondeu. Repita com a mesma Idempotency-Key: nada é cobrado duas vezes.',
  payment_method_not_found: 'O cartão não existe ou não é seu.',
  too_many_payment_methods: 'A conta tem o máximo de cartões. Exclua um.',
  too_many_rejected_cards: 'Tentativas demais com cartões. Espere uma hora ou pague por Pix.',
  card_limit_reached: 'Os cartões chegaram ao limite do dia ou da hora. Pague por Pix ou espere.',
  too_many_withdrawals:
    'Desistências demais em 24 horas ou 30 dias. Ainda é possível desistir do valor inteiro que resta; o pedido espera por análise.',
  too_many_topups: 'Recargas em aberto demais. Pague uma delas, ou espere até amanhã.',
  topup_not_found: 'A recarga não existe ou não é sua.',
  topup_not_paid: 'A recarga ainda não foi paga, e por isso não tem recibo.',
  automatic_topup_not_found: 'Não há recarga automática definida.',
  refund_below_minimum: 'O valor é menor que o mínimo de um reembolso.',
  amount_not_refundable: 'O valor passa do que pode ser reembolsado. Veja GET /me/refunds.',
  refund_not_found: 'O reembolso não existe ou não é seu.',
  // Operators.
  second_factor_required: 'Para operar, entre com a verificação em duas etapas.',
  second_admin_required: 'Quem pediu o ajuste não o aprova: outra pessoa precisa aprovar.',
  own_account: 'A conta é de quem opera: outra pessoa precisa fazer isso.',
  customer_not_found: 'O cliente não existe, ou a conta foi excluída.',
  note_not_found: 'O cliente não tem esta anotação. Ela pode já ter sido excluída.',
  customer_deleted: 'A conta foi excluída: nada mais é lançado nela.',
  notice_too_short: 'Um aumento precisa de mais dias de aviso. A mensagem diz quantos.',
  later_change_scheduled: 'Já há uma mudança marcada para depois. Cancele-a antes.',
  markup_unchanged: 'O multiplicador já é este.',
  upstream_exists:
    'O id é de um provedor da configuração, ou já foi de outro tipo ou endereço. Escolha outro.',
  model_in_file: 'O modelo está no arquivo de configuração: ele muda lá.',
  upstream_not_found:
    'Não há um provedor com este id que possa ser mudado ou chamado aqui: os do arquivo e do ambiente mudam lá.',
  fx_rate_unlikely:
    'A taxa é longe da que está em vigor ou da última oficial. Se está certa, defina-a pela linha de comando.',
  fx_rate_not_found: 'A taxa já foi retirada, ou não foi definida à mão.',
  only_fx_rate: 'É a única taxa: defina a certa antes de retirar esta.',
  markup_change_not_found: 'A mudança não existe.',
  already_in_force: 'A mudança já está em vigor, e não pode ser cancelada.',
  incident_not_found: 'O incidente não existe.',
  incident_resolved: 'O incidente já foi encerrado.',
  webhook_disabled_by_customer: 'O próprio cliente desligou o webhook: só ele o liga.',
  refund_already_decided: 'O reembolso já foi decidido. Leia a lista de novo.',
  difference_not_found: 'A diferença não existe.',
  difference_gone: 'A diferença sumiu na última comparação: não há o que explicar.',
  reference_taken: 'Já há um ajuste diferente com esta referência. Use outra.',
  short_balance: 'O saldo livre do cliente não cobre o débito. Nada foi lançado.',
  adjustment_not_found: 'O ajuste não existe.',
  price_update_not_found: 'Nada deste modelo espera uma resposta.',
  price_update_changed:
    'O preço publicado já é outro. Leia a lista de novo e decida pelo que ela mostra.',
  price_update_unusable:
    'O preço publicado não pode ser usado neste modelo: não pôde ser lido, ou tem outras unidades.',
  adjustment_decided: 'O ajuste já foi decidido. Leia a lista de novo.',
}
