/* SPDX-License-Identifier: BSD-3-Clause */
/* Version 1 of QEMU's interface to its plugins, as its documentation describes it: what plugins here call. */
#ifndef PHASEMUX_QEMU_INTERFACE_H
#define PHASEMUX_QEMU_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

#define PLUGIN_INTERFACE 1
#define NO_REGISTERS     0
#define READS_AND_WRITES 3

typedef uint64_t plugin_id;
struct qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block,
		size_t index);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
extern bool qemu_plugin_mem_is_store(uint32_t how);
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
		void (*translated)(plugin_id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
		void (*executed)(unsigned, void *), int registers, void *data);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
		void (*accessed)(unsigned, uint32_t, uint64_t, void *), int registers, int which,
		void *data);
extern void qemu_plugin_register_vcpu_exit_cb(plugin_id id, void (*ended)(plugin_id, unsigned));

#endif
