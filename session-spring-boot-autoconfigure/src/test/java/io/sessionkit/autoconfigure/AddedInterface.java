package io.sessionkit.autoconfigure;

import org.springframework.asm.ClassWriter;
import org.springframework.asm.Opcodes;

/**
 * Has one type more than the tests: an interface of a library that is not among their
 * dependencies. It has no methods.
 */
public final class AddedInterface extends ClassLoader {

	private final String name;

	public AddedInterface(String name) {
		super(AddedInterface.class.getClassLoader());
		this.name = name;
	}

	@Override
	protected Class<?> findClass(String name) throws ClassNotFoundException {
		if (!name.equals(this.name)) {
			throw new ClassNotFoundException(name);
		}
		ClassWriter writer = new ClassWriter(0);
		writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT | Opcodes.ACC_INTERFACE,
				name.replace('.', '/'), null, "java/lang/Object", null);
		byte[] code = writer.toByteArray();
		return defineClass(name, code, 0, code.length);
	}

}
