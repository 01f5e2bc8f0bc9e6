import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** The subject of a mail, by its template. */
export function notificationWords(template: string): string {
  return WORDS()[template] ?? t('Aviso da conta')
}

const WORDS = perLanguage((): Readonly<Record<string, string>> => ({
  boas_vindas: 'Boas-vindas',
  chave_criada: t('Chave criada'),
  chave_revogada: t('Chave revogada'),
  chave_pausada: t('Chave pausada'),
  chave_retomada: t('Chave retomada'),
  chaves_reativadas: t('Chaves reativadas'),
  conta_suspensa: t('Conta suspensa'),
  conta_reativada: t('Conta reativada'),
  alerta_gasto: t('Alerta disparado'),
  convite_equipe: t('Convite para uma equipe'),
  seguranca_da_conta: t('Segurança da conta'),
  webhook_desativado: t('Webhook desativado'),
  destino_de_uso_desligado: t('Envio de uso desligado'),
  webhook_segredo_rotacionado: t('Segredo de webhook trocado'),
  exportacao_pronta: t('Cópia dos seus dados'),
  resumo_semanal: t('Resumo da semana'),
  incidentes: t('Incidentes no serviço'),
  recarga_pendente: t('Recarga à espera do pagamento'),
  recarga_confirmada: t('Recarga confirmada'),
  recarga_expirada: t('Recarga vencida'),
  recarga_contestada: t('Recarga contestada'),
  recarga_automatica_desativada: t('Recarga automática desligada'),
  cartao_recusado: t('Cartão recusado'),
  mudanca_de_preco: t('Mudança de preço'),
  fim_de_modelo: t('Modelos que saem do ar'),
  saldo_baixo: t('Saldo baixo'),
  saldo_critico: t('Saldo quase no fim'),
  saldo_zerado: t('Saldo esgotado'),
  reembolso_solicitado: t('Reembolso pedido'),
  reembolso_concluido: t('Reembolso concluído'),
  reembolso_recusado: t('Reembolso recusado'),
  reembolso_falhou: t('Reembolso não concluído'),
  arrependimento_confirmado: t('Arrependimento confirmado'),
  indicacao_recompensa: t('Recompensa por indicação'),
}))
