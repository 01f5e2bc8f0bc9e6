import { perLanguage } from '../language/per-language.ts'
import { t } from '../language/t.ts'

/** The customer's text for each error code of the API. For other codes the HTTP status selects the text. */
export const ERROR_TEXTS = perLanguage((): Readonly<Record<string, string>> => ({
  network: t('Não conseguimos falar com a Catraca. Confira sua conexão e tente de novo.'),
  code_missing: t(
    'Falta uma parte desta página. Confira sua conexão e recarregue: a Catraca pode ter sido atualizada.',
  ),
  internal_error: t('Algo deu errado do nosso lado. Espere um instante e tente de novo.'),
  unauthorized: t('Sua sessão terminou. Entre de novo para continuar.'),
  csrf_token_missing: t('Sua sessão mudou em outra aba. Atualize a página e tente de novo.'),
  invalid_request: t('Há um campo com valor inválido. Confira os dados e tente de novo.'),
  stream_broken: t(
    'A resposta parou no meio. Só é cobrado o que chegou a ser gerado. Tente de novo.',
  ),
  rate_limit_exceeded: t('Muitas requisições em pouco tempo. Espere um minuto e tente de novo.'),
  idempotency_key_in_use: t(
    'Seu pedido anterior ainda está em andamento. Espere um instante e tente de novo.',
  ),
  too_many_idempotency_keys: t('Você já fez muita coisa hoje. Tente de novo mais tarde.'),
  too_many_exports: t(
    'Já há uma exportação em andamento, ou foram muitas em uma hora. Espere um pouco e tente de novo.',
  ),
  payload_too_large: t('O conteúdo é grande demais. Diminua e tente de novo.'),
  // Sign-in: the codes of better-auth.
  INVALID_EMAIL_OR_PASSWORD: t('E-mail ou senha não conferem. Tente de novo ou entre por um link.'),
  INVALID_EMAIL: t('Este e-mail não parece válido. Confira se não falta algo.'),
  INVALID_PASSWORD: t('A senha não confere.'),
  EMAIL_NOT_VERIFIED: t('Falta confirmar seu e-mail. Abra o link que enviamos a você.'),
  PASSWORD_TOO_SHORT: t('A senha é curta demais. Use ao menos 10 caracteres.'),
  PASSWORD_TOO_LONG: t('A senha é longa demais. Use no máximo 128 caracteres.'),
  USER_ALREADY_EXISTS: t('Já existe uma conta com este e-mail. Entre com ela.'),
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: t('Já existe uma conta com este e-mail. Entre com ela.'),
  INVALID_TOKEN: t('Este link já foi usado ou venceu. Peça outro.'),
  TOKEN_EXPIRED: t('Este link venceu. Peça outro.'),
  TOO_MANY_REQUESTS: t('Muitas tentativas. Espere alguns minutos e tente de novo.'),
  INVALID_CODE: t('O código não confere ou já foi usado. Espere o próximo e digite de novo.'),
  SIGN_IN_AGAIN: t('O tempo para digitar o código acabou. Entre de novo.'),
  TERMS_NOT_ACCEPTED: t('Os termos de uso mudaram. Atualize a página e aceite a versão nova.'),
  TERMS_CHANGED: t('Os termos de uso mudaram. Leia a versão nova e aceite de novo.'),
  CSRF_TOKEN_MISSING: t('Sua sessão mudou em outra aba. Atualize a página e tente de novo.'),
  UNAUTHORIZED: t('Sua sessão terminou. Entre de novo para continuar.'),
  PROOF_NEEDED: t('Confirme que é você para continuar.'),
  proof_needed: t('Confirme que é você para continuar.'),
  SECOND_FACTOR_IS_ON: t('A verificação em duas etapas já está ligada. Atualize a página.'),
  SECOND_FACTOR_IS_OFF: t('A verificação em duas etapas está desligada. Atualize a página.'),
  TOO_MANY_PASSKEYS: t('Você já tem 20 chaves de acesso. Remova uma que não usa.'),
  FAILED_TO_VERIFY_REGISTRATION: t('A chave de acesso não foi criada. Tente de novo.'),
  AUTHENTICATION_FAILED: t(
    'A chave de acesso não foi aceita. Tente de novo ou entre de outra forma.',
  ),
  CHALLENGE_NOT_FOUND: t('O tempo para usar a chave de acesso acabou. Tente de novo.'),
  PASSKEY_NOT_FOUND: t(
    'Esta chave de acesso não pertence mais a nenhuma conta. Use outra ou entre de outra forma.',
  ),
  PROVIDER_NOT_LINKED: t('Esta conta já não está vinculada. Atualize a página.'),
  USER_NOT_VERIFIED: t(
    'O dispositivo precisa pedir sua digital, seu rosto ou um PIN. Tente com outro.',
  ),
  passkey_cancelled: t('A chave de acesso não foi usada. Tente de novo quando quiser.'),
  passkey_known: t('Este dispositivo já tem uma chave de acesso desta conta.'),
  proof_cancelled: t('Para continuar, confirme que é você.'),
  // Payments: profile, cards, top-ups.
  cpf_required: t('Antes, informe seu CPF ou CNPJ no perfil: sem ele não há como cobrar.'),
  no_trial_credit: t('Não há mais crédito para experimentar. Para começar, faça uma recarga.'),
  trial_credit_used: t(
    'O crédito já foi usado com este CPF ou CNPJ, este e-mail ou este aparelho. Para continuar, faça uma recarga.',
  ),
  trial_credit_not_new: t(
    'O crédito é só para contas que ainda não tiveram nenhum. Para continuar, faça uma recarga.',
  ),
  trial_credit_exhausted: t('O crédito de hoje acabou. Tente de novo amanhã, ou faça uma recarga.'),
  account_suspended: t('Sua conta está suspensa. O motivo e o contato estão no alto da página.'),
  email_required: t('Antes, confirme um e-mail na sua conta: é para ele que vai o recibo.'),
  invalid_cpf_cnpj_format: t('Um CPF tem 11 dígitos, um CNPJ tem 14 caracteres. Confira o número.'),
  invalid_cpf_cnpj_checksum: t('Este CPF ou CNPJ não é válido. Veja se há um dígito trocado.'),
  payment_processor_unavailable: t(
    'O processador de pagamentos não respondeu. Espere um minuto e tente de novo.',
  ),
  too_many_rejected_cards: t(
    'Muitos cartões recusados em pouco tempo. Espere uma hora ou pague por Pix.',
  ),
  card_limit_reached: t(
    'Seus cartões chegaram ao limite: R$ 5.000 e dez cobranças por dia, três por hora. Pague por Pix ou espere.',
  ),
  too_many_topups: t(
    'Você já abriu muitas recargas hoje. Pague uma das que estão abertas ou espere até amanhã.',
  ),
  too_many_withdrawals: t(
    'Muitas recargas foram devolvidas nos últimos dias. Use o saldo, peça de volta o valor inteiro ou espere para recarregar.',
  ),
  too_many_prompts: t('Você já tem o máximo de prompts. Exclua um que não usa.'),
  prompts_too_large: t('O histórico dos seus prompts ocupa todo o espaço. Exclua um que não usa.'),
  too_many_payment_methods: t('Você já tem o máximo de cartões. Exclua um que não usa.'),
  // Operators.
  forbidden: t('Sua conta não tem permissão para fazer isso.'),
  customer_not_found: t('Este cliente não existe, ou a conta foi excluída.'),
  customer_deleted: t('A conta foi excluída: nada mais pode ser lançado nela. Recuse o ajuste.'),
  own_account: t('A conta é sua, ou de uma equipe sua: outro operador precisa fazer isso.'),
  second_factor_required: t('Para operar, ligue a verificação em duas etapas e entre com ela.'),
  second_admin_required: t('Você pediu este ajuste: outro operador precisa aprovar.'),
  fx_rate_unlikely: t(
    'A taxa é mais de 20% longe da que está em vigor ou da última oficial. Se está certa, só a linha de comando a define.',
  ),
  fx_rate_not_found: t('Esta taxa já foi retirada, ou não foi definida à mão.'),
  only_fx_rate: t('É a única taxa: defina a certa antes de retirar esta.'),
  adjustment_decided: t('Outro operador já decidiu este ajuste. Atualize a lista.'),
  reference_taken: t('Já há um ajuste diferente com esta referência. Volte e use outra.'),
  short_balance: t('O saldo livre do cliente não cobre este débito. Nada foi lançado.'),
  refund_already_decided: t('Este reembolso já foi decidido. Atualize a lista.'),
  difference_gone: t(
    'Esta diferença se resolveu sozinha na última comparação: não há mais o que explicar.',
  ),
  // Teams.
  already_member: t('Esta pessoa já está na equipe.'),
  already_invited: t('Esta pessoa já tem um convite em aberto. Cancele-o para enviar outro.'),
  too_many_invitations: t('Há 50 convites em aberto, o máximo. Cancele os que não valem mais.'),
  invitation_limit_reached: t(
    'Convites demais em um dia, para esta pessoa ou por esta conta. Tente de novo amanhã.',
  ),
  too_many_members: t('A equipe está cheia: são 200 pessoas no máximo.'),
  too_many_teams: t('Você já tem 100 equipes, o máximo. Exclua uma que não usa.'),
  invitation_not_found: t(
    'Este convite não vale mais: venceu, foi cancelado ou já foi respondido.',
  ),
}))
