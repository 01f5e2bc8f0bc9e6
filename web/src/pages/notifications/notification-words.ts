/** The subject of a mail, by its template. */
export function notificationWords(template: string): string {
  return WORDS[template] ?? 'Aviso da conta'
}

const WORDS: Readonly<Record<string, string>> = {
  boas_vindas: 'Boas-vindas',
  chave_criada: 'Chave criada',
  chave_revogada: 'Chave revogada',
  chave_pausada: 'Chave pausada',
  chave_retomada: 'Chave retomada',
  chaves_reativadas: 'Chaves reativadas',
  alerta_gasto: 'Alerta disparado',
  convite_equipe: 'Convite para uma equipe',
  seguranca_da_conta: 'Segurança da conta',
  webhook_desativado: 'Webhook desativado',
  webhook_segredo_rotacionado: 'Segredo de webhook trocado',
  exportacao_pronta: 'Cópia dos seus dados',
  resumo_semanal: 'Resumo da semana',
  recarga_pendente: 'Recarga à espera do pagamento',
  recarga_confirmada: 'Recarga confirmada',
  recarga_expirada: 'Recarga vencida',
  recarga_contestada: 'Recarga contestada',
  recarga_automatica_desativada: 'Recarga automática desligada',
  cartao_recusado: 'Cartão recusado',
  mudanca_de_preco: 'Mudança de preço',
  saldo_baixo: 'Saldo baixo',
  saldo_critico: 'Saldo quase no fim',
  saldo_zerado: 'Saldo esgotado',
  reembolso_solicitado: 'Reembolso pedido',
  reembolso_concluido: 'Reembolso concluído',
  reembolso_recusado: 'Reembolso recusado',
  reembolso_falhou: 'Reembolso não concluído',
  arrependimento_confirmado: 'Arrependimento confirmado',
  indicacao_recompensa: 'Recompensa por indicação',
}
